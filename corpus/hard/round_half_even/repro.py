"""Rounds prices to whole units."""
import decimal

PRICES = ["2.5", "3.5", "4.25"]


class Till:
    def __init__(self):
        self.log = []

    def price(self, text):
        amount = round(decimal.Decimal(text))
        self.log.append((text, amount))
        return amount


def half_up(text):
    return int(decimal.Decimal(text) + decimal.Decimal("0.5"))


def main():
    till = Till()
    for text in PRICES:
        price = till.price(text)
        if price != half_up(text):
            raise ValueError("wrong price for %s: %s" % (text, price))
    print(till.log)


main()
