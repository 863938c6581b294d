import sys

ordered = sorted([(1, 2), (0, 3)])
found = []
for one, two in zip(ordered, ordered[1:]):
    if two[0] < one[1]:
        found.append(0)
if found:
    sys.exit(3)
