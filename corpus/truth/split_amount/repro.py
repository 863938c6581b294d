from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal


@dataclass(frozen=True)
class Money:
    amount: Decimal
    currency: str = "EUR"

    def __add__(self, other):
        if self.currency != other.currency:
            raise ValueError("currencies differ")
        return Money(self.amount + other.amount, self.currency)

    def __radd__(self, other):
        return self if other == 0 else self + other

    def split(self, count):
        part = (self.amount / count).quantize(Decimal("0.01"), rounding=ROUND_DOWN)
        return [Money(part, self.currency) for _ in range(count)]


total = sum(Money(Decimal(line)) for line in ["19.99", "5.00", "75.01"])
for count in (1, 2, 3):
    parts = total.split(count)
    print(count, parts)
    assert sum(parts) == total, f"{count} parts lose money"
