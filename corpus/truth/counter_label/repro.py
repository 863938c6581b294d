from collections import Counter


class Tally(Counter):
    """Counts with the name of where they come from."""


def read(label, lines):
    tally = Tally()
    tally.label = label
    for line in lines:
        tally.update(line.split())
    return tally


def report(tally):
    top = ", ".join(f"{word}={count}" for word, count in tally.most_common(2))
    return f"{tally.label}: {top}"


north = read("north", ["ham eggs ham", "spam"])
south = read("south", ["eggs", "eggs spam"])
print(report(north))
print(report(south))
print(report(north + south))
