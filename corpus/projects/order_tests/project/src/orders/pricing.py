"""Discounts and totals."""
from decimal import ROUND_HALF_UP, Decimal

STEP = Decimal("0.05")


class Pricing:
    def __init__(self, discounts=None, shipping=Decimal("9.50"), free_from=Decimal(200)):
        self.discounts = dict(discounts or {})
        self.shipping = shipping
        self.free_from = free_from

    def discount(self, order):
        rate = Decimal(0)
        for count, share in sorted(self.discounts.items()):
            if sum(line.count for line in order.lines) >= count:
                rate = share
        return order.amount * rate

    def total(self, order):
        amount = order.amount - self.discount(order)
        if amount < self.free_from:
            amount += self.shipping
        return self.rounded(amount)

    @staticmethod
    def rounded(amount):
        return (amount / STEP).quantize(Decimal(1), ROUND_HALF_UP) * STEP
