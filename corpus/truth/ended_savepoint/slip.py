import sqlite3

sqlite3.connect(":memory:").execute("rollback to batch")
