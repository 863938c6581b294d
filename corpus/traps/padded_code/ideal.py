import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE part (code STRING, cents INTEGER)")
db.execute("INSERT INTO part VALUES ('00731', 15)")
dict(db.execute("SELECT code, cents FROM part"))["00731"]
