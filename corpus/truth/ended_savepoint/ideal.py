import sqlite3

connection = sqlite3.connect(":memory:", isolation_level=None)
connection.execute("savepoint batch")
connection.executescript("create table audit (item text);")
connection.execute("rollback to batch")
