class Price:
    def __init__(self, amount):
        self.amount = amount

    def rounded(self):
        return round(self.amount, 1)


def report(amounts):
    prices = [Price(amount) for amount in amounts]
    return [price.rounded() for price in prices]


rows = report([0.25, 1.75, 2.65])
print("rounded:", rows)
assert rows == [0.3, 1.8, 2.7], "not rounded up"
