"""Books deliveries in batches; a batch that does not fit the shelf is taken back."""

import sqlite3

SHELF = 100
SCHEMA = "create table deliveries (item text, amount integer)"
AUDIT = "create table if not exists audit (item text);"


def opened():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(SCHEMA)
    return connection


def stocked(connection):
    return connection.execute("select coalesce(sum(amount), 0) from deliveries").fetchone()[0]


def book(connection, batch):
    connection.execute("savepoint batch")
    for item, amount in batch:
        connection.execute("insert into deliveries values (?, ?)", (item, amount))
    connection.executescript(AUDIT)
    if stocked(connection) > SHELF:
        connection.execute("rollback to batch")
    connection.execute("release batch")


store = opened()
book(store, [("bolts", 60), ("nuts", 70)])
print(stocked(store))
