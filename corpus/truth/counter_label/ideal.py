from collections import Counter


class Tally(Counter):
    pass


tally = Tally("ab")
tally.label = "north"
(tally + tally).label
