"""What an order consists of."""
from dataclasses import dataclass, field
from decimal import Decimal
from typing import List


class OrderError(ValueError):
    """An order that cannot be accepted."""


@dataclass(frozen=True)
class Line:
    article: str
    count: int
    price: Decimal

    def __post_init__(self):
        if self.count <= 0:
            raise OrderError(f"{self.article}: {self.count} is no count")

    @property
    def amount(self):
        return self.count * self.price


@dataclass
class Order:
    number: str
    customer: str
    lines: List[Line] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)

    def add(self, line):
        self.lines.append(line)
        return self

    @property
    def amount(self):
        return sum((line.amount for line in self.lines), Decimal(0))

    def articles(self):
        return sorted({line.article for line in self.lines})
