import sqlite3


class Price:
    def __init__(self, cents):
        self.cents = cents

    def text(self):
        return "%d.%02d" % divmod(self.cents, 100)


class Discount(Price):
    share = 0.5


class Shop:
    def __init__(self):
        self.data = sqlite3.connect(":memory:")
        self.data.execute("create table goods (name, price)")

    def add(self, name, price):
        self.data.execute("insert into goods values (?, ?)", (name, price))


sqlite3.register_adapter(Price, Price.text)
shop = Shop()
for name, price in [("tea", Price(450)), ("mug", Price(800)), ("old tea", Discount(225))]:
    shop.add(name, price)
for row in shop.data.execute("select * from goods"):
    print(*row)
