import math

ROWS = [("rod", 2, 2.675)]


def billed(rows):
    total = 0.0
    for name, count, price in rows:
        row = round(count * price * (1 + 0.19), 1)
        total += row
    return round(total, 1)


def booked(rows):
    exact = math.fsum(count * price for _, count, price in rows)
    return round(exact * (1 + 0.19), 2)


bill = billed(ROWS)
book = booked(ROWS)
assert bill == book, (bill, book)
