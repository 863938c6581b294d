"""Prices of parts, looked up by their code."""
import sqlite3

PARTS = [("B-17", 240, "clamp"), ("00731", 15, "washer"), ("A-02", 399, "bracket")]


class Stock:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE part (code STRING, cents INTEGER, name TEXT)")

    def fill(self, rows):
        self.db.executemany("INSERT INTO part VALUES (?, ?, ?)", rows)
        return self

    def prices(self):
        return dict(self.db.execute("SELECT code, cents FROM part ORDER BY name"))


class Basket:
    def __init__(self, prices):
        self.prices = prices
        self.cents = 0

    def add(self, code, number=1):
        self.cents += number * self.prices[code]
        return self


prices = Stock().fill(PARTS).prices()
print(len(prices), "prices")
basket = Basket(prices).add("B-17", 2).add("A-02")
print(basket.cents / 100)
print(basket.add("00731", 40).cents / 100)
