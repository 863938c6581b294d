from collections import Counter


class Tally(Counter):
    pass


(Tally("ab") + Tally("b")).label
