import sqlite3

SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id));
"""


class Shop:
    def __init__(self):
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("PRAGMA foreign_keys = ON")
        self.connection.executescript(SCHEMA)

    def add_user(self, email):
        return self.connection.execute("INSERT INTO users (email) VALUES (?)", (email,)).lastrowid

    def add_order(self, user):
        self.connection.execute("INSERT INTO orders (user_id) VALUES (?)", (user,))

    def remove(self, user):
        self.connection.execute("DELETE FROM users WHERE id = ?", (user,))


shop = Shop()
first = shop.add_user("a@example.com")
second = shop.add_user("b@example.com")
shop.add_order(second)
shop.remove(first)
shop.remove(second)
