import sqlite3


def blend(left, right):
    return (left + right) / 2


def double(value):
    return value * 2


database = sqlite3.connect(":memory:")
database.create_function("blend", 2, blend)
database.create_function("double", 1, double)
database.execute("create table colours (red, green)")
database.execute("insert into colours values (10, 20)")
print(database.execute("select double(red) from colours").fetchone())
print(database.execute("select blend(red) from colours").fetchone())
