"""Loads stock lists of several shops, whose delimiters differ."""
import csv
import io

LISTS = {
    "mill": "sku,qty,place\nm1,3,shelf\nm2,8,cellar\n",
    "quay": "sku;qty;place\nq1;5;shelf\n",
    "yard": 'sku,qty,place\ny1,4,"gate 4; \'b\'; rear; top"\ny2,6,"gate 2; \'a\'; rear; low"\n',
}


class Stock:
    def __init__(self):
        self.items = {}

    def add(self, sku, qty, place):
        self.items[sku] = (int(qty), place)


def rows(text):
    dialect = csv.Sniffer().sniff(text)
    reader = csv.reader(io.StringIO(text), dialect)
    next(reader)
    yield from reader


stock = Stock()
for shop, text in LISTS.items():
    for row in rows(text):
        sku, qty, place = row
        stock.add(sku, qty, place)
    print(shop, len(stock.items), "items")
