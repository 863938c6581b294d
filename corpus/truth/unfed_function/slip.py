import sqlite3

def blend(left):
    return left

database = sqlite3.connect(":memory:")
database.create_function("blend", 2, blend)
database.execute("select blend(1)")
