"""Sums up what a meter counted over a day."""
from collections import namedtuple
from itertools import takewhile

Count = namedtuple("Count", "hour litres")

LOG = """
0 12.5
6 40.0
# filter changed
12 38.5
18 21.0
"""


def counts(text):
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            hour, litres = line.split()
            yield Count(int(hour), float(litres))


class Day:
    def __init__(self, counts):
        self.counts = counts

    def peak(self):
        return max(count.litres for count in self.counts)

    def mean(self):
        number = total = 0
        for count in self.counts:
            number += 1
            total += count.litres
        return total / number


written = Day([Count(0, 10.0), Count(12, 30.0)])
print("by hand", written.peak(), written.mean())
metered = Day(takewhile(lambda count: count.hour < 18, counts(LOG)))
print("metered", metered.peak())
print("mean", metered.mean())
