import math


def shares(total, people):
    return [round(total / people, 2) for _ in range(people)]


def check(total, people):
    paid = math.fsum(shares(total, people))
    print(people, "people pay", paid)
    if not math.isclose(paid, total):
        raise ValueError("shares do not add up")


check(10.0, 3)
