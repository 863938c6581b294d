from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal


@dataclass(frozen=True)
class Money:
    amount: Decimal

    def __add__(self, other):
        return Money(self.amount + other.amount)

    def __radd__(self, other):
        return self if other == 0 else self + other


total = sum([Money(Decimal("19.99"))])
part = (total.amount / 2).quantize(Decimal("0.01"), rounding=ROUND_DOWN)
assert sum(Money(part) for _ in range(1)) == total, "2 parts lose money"
