import sqlite3

class Price: ...

class Discount(Price): ...

sqlite3.register_adapter(Price, Price)
data = sqlite3.connect(":memory:")
data.execute("create table goods (name, price)")
discount = Discount()
data.execute("insert into goods values (?, ?)", ("old tea", discount))
