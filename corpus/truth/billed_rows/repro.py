import math

ROWS = [("bolt", 2, 0.335), ("nut", 3, 0.335)]
TAX = 0.19


def billed(rows):
    total = 0.0
    for name, count, price in rows:
        row = round(count * price * (1 + TAX), 2)
        print(f"{name:>6} {row:8.2f}")
        total += row
    return round(total, 2)


def booked(rows):
    exact = math.fsum(count * price for _, count, price in rows)
    return round(exact * (1 + TAX), 2)


bill = billed(ROWS)
book = booked(ROWS)
print(bill, book)
assert bill == book, (bill, book)
