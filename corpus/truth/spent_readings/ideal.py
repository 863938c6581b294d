from itertools import takewhile


def mean(counts):
    number = 0
    for count in counts:
        number += 1
    return 1 / number


counts = takewhile(bool, [1])
max(count for count in counts)
mean(counts)
