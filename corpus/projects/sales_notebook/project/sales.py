"""Reads what the shops have sold."""
import csv
import datetime
from collections import defaultdict


class Sale:
    def __init__(self, row):
        self.date = datetime.date.fromisoformat(row["date"])
        self.shop = row["shop"]
        self.item = row["item"]
        self.count = int(row["count"])
        self.price = float(row["price"])

    @property
    def amount(self):
        return self.count * self.price

    @property
    def quarter(self):
        return (self.date.month - 1) // 3 + 1


def load(path):
    with open(path, newline="") as file:
        return [Sale(row) for row in csv.DictReader(file)]


def by_shop(sales, quarter):
    found = defaultdict(list)
    for sale in sales:
        if sale.quarter == quarter:
            found[sale.shop].append(sale)
    return dict(found)


def summary(sales):
    best = max(sales, key=lambda sale: sale.amount)
    return {
        "total": round(sum(sale.amount for sale in sales), 2),
        "items": sum(sale.count for sale in sales),
        "best": best.item,
        "last": max(sale.date for sale in sales).isoformat(),
    }
