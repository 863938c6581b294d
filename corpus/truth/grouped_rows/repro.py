import itertools
import operator

ROWS = [
    ("fruit", "apple", 3),
    ("fruit", "pear", 5),
    ("root", "carrot", 2),
    ("root", "beet", 7),
]


def by_kind(rows):
    ordered = sorted(rows, key=operator.itemgetter(0))
    return list(itertools.groupby(ordered, key=operator.itemgetter(0)))


def first(group):
    kind, name, count = next(group)
    return f"{kind}: {name} x{count}"


for kind, group in by_kind(ROWS):
    print(kind, first(group))
