import sqlite3

connection = sqlite3.connect(":memory:")
connection.execute("PRAGMA foreign_keys = ON")
connection.executescript("""CREATE TABLE users (id INTEGER PRIMARY KEY);
CREATE TABLE orders (user_id INTEGER REFERENCES users(id));""")
connection.execute("INSERT INTO users VALUES (1)")
connection.execute("INSERT INTO orders VALUES (1)")
connection.execute("DELETE FROM users WHERE id = ?", (1,))
