"""Checks a table of shifts for overlaps."""
import sys

SHIFTS = [("ann", 6, 14), ("bob", 13, 20), ("cat", 20, 24)]
LIMIT = 3


def parse(rows):
    found = []
    for name, start, end in rows:
        if end < start:
            print("bad row", name)
            sys.exit(LIMIT)
        found.append((start, end, name))
    return found


def overlaps(shifts):
    ordered = sorted(shifts)
    found = []
    for one, two in zip(ordered, ordered[1:]):
        if two[0] < one[1]:
            found.append((one[2], two[2]))
    return found


def main():
    shifts = parse(SHIFTS)
    print(len(shifts), "shifts")
    found = overlaps(shifts)
    if found:
        sys.exit(3)
    print("no overlaps")


main()
