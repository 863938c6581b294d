"""Quarterly report for the co-operative, plain text.

The figures were always checked by hand. This quarter the line of the dairy
shows something with an exponent where it must be 1234567.89; the small
departments look right. No float anywhere, all is Decimal from the start!
"""
import datetime
import decimal
import itertools
import re
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from string import Template

BOOKINGS = """
# day        department  currency  amount     text
2023-07-03   bakery      EUR       1250.50    bread, week 27
2023-07-11   dairy       EUR       1234567.89 contract with the city
2023-07-12   garden      EUR       310.00     seedlings
2023-08-01   bakery      CHF       220.00     fair in Basel
2023-08-19   garden      EUR       -45.25     returned pots
2023-09-05   bakery      EUR       980.10     bread, week 36
2023-09-28   garden      SEK       1500.00    online shop
"""

RATES = {"EUR": "1", "CHF": "1.0472", "SEK": "0.0843"}
SHARES = {"bakery": Fraction(1, 3), "dairy": Fraction(1, 2), "garden": Fraction(1, 6)}

LINE = re.compile(r"(\S+)\s+(\w+)\s+([A-Z]{3})\s+(-?[\d.]+)\s+(.*)")

PAGE = Template("""\
$title
$rule
$body
$rule
Printed on $day by $who. Prices in $$ on request.
""")
ROW = Template("${name}: ${total} EUR in ${count} bookings, median ${median}")


@dataclass(frozen=True)
class Booking:
    day: datetime.date
    department: str
    currency: str
    amount: Decimal
    text: str = ""

    @property
    def month(self):
        return f"{self.day:%Y-%m}"


class Exchange:
    """Central rates have six significant digits (EC 1103/97)."""

    digits = 6

    def __init__(self, rates):
        decimal.getcontext().prec = self.digits
        self.rates = {name: +Decimal(text) for name, text in rates.items()}
        self.used = set()

    def inverse(self, currency):
        return 1 / self.rates[currency]

    def convert(self, amount, currency):
        if currency == "EUR":
            return amount
        self.used.add(currency)
        return (amount * self.rates[currency]).quantize(Decimal("0.01"), ROUND_HALF_UP)


def read(text):
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        found = LINE.fullmatch(line)
        if found is None:
            print(f"line {number} skipped", file=sys.stderr)
            continue
        day, department, currency, amount, note = found.groups()
        yield Booking(datetime.date.fromisoformat(day), department, currency, Decimal(amount), note)


class Department:
    def __init__(self, name):
        self.name = name
        self.amounts = []
        self.months = defaultdict(list)

    def add(self, booking, amount):
        self.amounts.append(amount)
        self.months[booking.month].append(amount)

    @property
    def total(self):
        return sum(self.amounts, Decimal(0))

    def row(self):
        return ROW.substitute(
            name=self.name.capitalize(),
            total=self.total,
            count=len(self.amounts),
            median=statistics.median_low(self.amounts),
        )

    def details(self):
        for month, amounts in sorted(self.months.items()):
            yield f"    {month}  {max(amounts):>12}  ({len(amounts)})"


class Report:
    def __init__(self, bookings, exchange, *, details=True):
        self.exchange = exchange
        self.details = details
        self.departments = {}
        for booking in bookings:
            self.add(booking)

    def add(self, booking):
        name = booking.department
        if name not in self.departments:
            self.departments[name] = Department(name)
        amount = self.exchange.convert(booking.amount, booking.currency)
        self.departments[name].add(booking, amount)

    def lines(self):
        for name, department in sorted(self.departments.items()):
            yield department.row()
            if self.details:
                yield from department.details()

    def rates(self):
        for currency in sorted(self.exchange.used):
            yield f"1 EUR = {self.exchange.inverse(currency)} {currency}"

    def shares(self):
        rest = 1 - sum(SHARES.values())
        yield "shares: " + ", ".join(f"{name} {share}" for name, share in SHARES.items())
        if rest:
            yield f"not given out: {rest}"

    def render(self, who="the office"):
        body = itertools.chain(self.lines(), self.rates(), self.shares())
        return PAGE.substitute(
            title="Third quarter".upper(),
            rule="-" * 60,
            body="\n".join(body),
            day=datetime.date(2023, 10, 2).isoformat(),
            who=who,
        )


def main():
    exchange = Exchange(RATES)
    bookings = sorted(read(BOOKINGS), key=lambda booking: booking.day)
    report = Report(bookings, exchange, details="--short" not in sys.argv)
    print(report.render())


if __name__ == "__main__":
    main()
