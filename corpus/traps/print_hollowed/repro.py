"""Compares two ways of adding up."""
import math
import random

random.seed(4)


class Report:
    def __init__(self):
        self.lines = []

    def add(self, text, *args):
        self.lines.append(text % args)
        return self.lines


def plainly(values):
    total = 0.0
    for value in values:
        total += value
    return total


def exactly(values):
    return math.fsum(values)


def compare(values, report):
    one, two = plainly(values), exactly(values)
    report.add("%d values", len(values))
    if one != two:
        print("MISMATCH between the sums: %r and %r" % (one, two))
    return report


def main():
    values = [0.1] * 10
    report = compare(values, Report())
    print(len(report.lines))


main()
