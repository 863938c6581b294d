import sqlite3

conn = sqlite3.connect(":memory:")
cursor = conn.cursor()
conn.row_factory = sqlite3.Row
[row["name"] for row in cursor.execute("select 1 as name")]
