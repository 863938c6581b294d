"""Rounds the prices of an order, with the value-added tax of each line."""

RATES = {"books": 0.07, "tea": 0.07, "lamps": 0.19}


class Order:
    def __init__(self, lines):
        self.lines = lines

    def price(self, name):
        price, count = self.lines[name]
        return round(price * count, 2)

    def taxes(self):
        return [RATES[name] * price for name, (price, _) in self.lines.items()]


order = Order({"books": (2.675, 1), "tea": (1.115, 1), "lamps": (40.0, 3)})
print("lines:", len(order.lines))
print("taxes:", len(order.taxes()))
print(order.price("books"))
