"""A list of plants with the days on which they were watered."""

import sqlite3
import time

TABLES = """
create table plant (id integer primary key, name text);
create table watered (plant integer, day integer);
"""


class Garden:
    def __init__(self):
        self.conn = sqlite3.connect(":memory:")
        self.conn.executescript(TABLES)
        self.reader = self.conn.cursor()
        self.days = 0

    def by_name(self):
        self.conn.row_factory = sqlite3.Row

    def plant(self, name):
        return self.conn.execute("insert into plant (name) values (?)", (name,)).lastrowid

    def water(self, plant, day):
        self.conn.execute("insert into watered values (?, ?)", (plant, day))
        self.days = max(self.days, day)

    def names(self):
        rows = self.conn.execute("select name from plant order by name")
        return [row["name"] for row in rows]

    def dry(self, day):
        self.reader.execute(
            "select name, max(day) as last from plant join watered on plant = id group by id"
        )
        return [row["name"] for row in self.reader if day - row["last"] > 3]


begun = time.perf_counter()
garden = Garden()
garden.by_name()
fern = garden.plant("fern")
cactus = garden.plant("cactus")
garden.water(fern, 1)
garden.water(cactus, 5)
print(garden.names(), garden.days)
print(garden.dry(6), "after", time.perf_counter() - begun)
