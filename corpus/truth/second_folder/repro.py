"""Exports the tables of a shop, each to a file in the folder of its day."""

import csv
import os

TABLES = {
    "orders": [("id", "total"), (1, 12.5), (2, 8.0)],
    "stock": [("part", "count"), ("bolt", 40), ("nut", 25)],
}


class Export:
    def __init__(self, folder, name, rows):
        self.path = os.path.join(folder, name + ".csv")
        self.rows = rows

    def write(self):
        with open(self.path, "w", newline="") as file:
            csv.writer(file).writerows(self.rows)
        return os.path.getsize(self.path)


day = "monday"

os.mkdir(day)
orders = Export(day, "orders", TABLES["orders"])
print("orders:", len(orders.rows), "rows")

os.mkdir(day)
stock = Export(day, "stock", TABLES["stock"])
print("stock:", len(stock.rows), "rows")

for export in (orders, stock):
    print(export.path, export.write(), "bytes")
