# invoice_report.py, needs 3.12 (quotes inside f-strings, and the new `type` statement)
# The totals come out right on screen but the last line, with the balance, raises.
from __future__ import annotations

import calendar, csv, io, textwrap
import dataclasses as dc
import statistics as st
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import accumulate, groupby, pairwise
from typing import Final, Self, override

type Row = tuple[str, int, Money]
type Rate = Decimal | int | str

WIDTH: Final = 64
CENT = Decimal("0.01")
SYMBOLS = {"EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$"}
RATES: dict[str, Rate] = {"EUR": 1, "GBP": "1.17", "JPY": "0.0061", "USD": "0.92"}

ORDERS = """\
day;customer;article;pieces;price;currency
2024-01-15;Atelier Éclair;paper A4;12;4.20;EUR
2024-01-16;Atelier Éclair;ink black;2;18.00;EUR
2024-01-31;Blue Door Ltd;paper A3;5;7.35;GBP
2024-02-02;Blue Door Ltd;stapler;1;11.99;GBP
2024-02-29;Kōjō;ruler 30 cm;40;95;JPY
"""


class Money:
    """An amount with a currency; knows how to be formatted."""

    __slots__ = ("amount", "currency")

    def __init__(self, amount: Rate = 0, currency: str = "EUR") -> None:
        self.amount = Decimal(amount)
        self.currency = currency

    def __add__(self, other: Money | int) -> Money:
        if other == 0:
            return self
        return Money(self.amount + other.to(self.currency).amount, self.currency)

    __radd__ = __add__

    def __mul__(self, factor: Rate) -> Money:
        return Money(self.amount * Decimal(factor), self.currency)

    def __neg__(self) -> Money:
        return self * -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and (self.amount, self.currency) == (other.amount, other.currency)

    def to(self, currency: str) -> Money:
        with localcontext(rounding=ROUND_HALF_EVEN):
            euros = self.amount * Decimal(RATES[self.currency])
            return Money((euros / Decimal(RATES[currency])).quantize(CENT), currency)

    def __format__(self, spec: str) -> str:
        match spec.partition("|"):
            case "", "", "":
                return f"{self.amount:.2f} {self.currency}"
            case width, "|", "symbol":
                return f"{f"{SYMBOLS[self.currency]}{self.amount:,.2f}":{width}}"
            case width, "|", "plain":
                return f"{self.amount:{width}.2f}"
            case width, "", "":
                return f"{f"{self.amount:.2f} {self.currency}":{width}}"


@dc.dataclass(slots=True, kw_only=True)
class Order:
    day: date
    customer: str
    article: str
    pieces: int
    price: Money

    @classmethod
    def parse(cls, record: dict[str, str]) -> Self:
        return cls(
            day=date.fromisoformat(record["day"]),
            customer=unicodedata.normalize("NFC", record["customer"]),
            article=record["article"],
            pieces=int(record["pieces"]),
            price=Money(record["price"], record["currency"]),
        )

    @property
    def total(self) -> Money:
        return self.price * self.pieces


class Table:
    def __init__(self, *heads: str, widths: Sequence[int]) -> None:
        self.heads, self.widths = heads, widths
        self.lines: list[str] = []

    def add(self, *cells: object) -> None:
        self.lines.append("".join(f"{cell!s:<{width}}" for cell, width in zip(cells, self.widths)))

    def __str__(self) -> str:
        head = "".join(f"{head:<{width}}" for head, width in zip(self.heads, self.widths))
        return f"{head}\n{"-" * WIDTH}\n{"\n".join(self.lines)}"


class Boxed(Table):
    @override
    def __str__(self) -> str:
        body = textwrap.indent(super().__str__(), "| ")
        return f"+{"-" * WIDTH}\n{body}\n+{"-" * WIDTH}"


def first[T](items: Iterable[T], test: Callable[[T], bool] = bool) -> T | None:
    return next((item for item in items if test(item)), None)


def months(orders: list[Order]) -> list[str]:
    return [f"{calendar.month_abbr[month]}: {sum(order.pieces for order in group)}"
            for month, group in groupby(orders, key=lambda order: order.day.month)]


orders = [Order.parse(record) for record in csv.DictReader(io.StringIO(ORDERS), delimiter=";")]
assert all(one.day <= two.day for one, two in pairwise(orders)), "not sorted"

for customer, group in groupby(orders, key=lambda order: order.customer):
    table = Boxed("article", "pieces", "total", widths=[24, 10, 16])
    bought = list(group)
    for order in bought:
        table.add(order.article, order.pieces, f"{order.total:>12|symbol}")
    print(f"{customer.upper():^{WIDTH}}", table, f"{"sum":>34}{sum(order.total for order in bought):>16}", sep="\n")

print(f"months   {", ".join(months(orders))}")
print(f"median   {st.median(order.pieces for order in orders)} pieces")
print(f"running  {" ".join(f"{total:|plain}" for total in accumulate(order.total for order in orders))}")
if late := first(orders, lambda order: order.day > date(2024, 2, 28)):
    print(f"late     {late.customer} ({late.day:%d.%m.%Y})")

paid = Money("120.50")
balance = sum(order.total for order in orders) + -paid
print(f"{"balance":<9}{balance:>{WIDTH - 9}|signed}")
