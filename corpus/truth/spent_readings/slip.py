from itertools import takewhile


def mean(counts):
    number = 0
    for count in counts:
        number += 1
    return 1 / number


mean(takewhile(bool, []))
