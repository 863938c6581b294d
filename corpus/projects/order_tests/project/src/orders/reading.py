"""Reads orders from the exports of the shop: one line each, parts separated by semicolons."""
from decimal import Decimal

from .model import Line, Order, OrderError

HEADER = "order;customer;article;count;price;note"


def price(text):
    """An amount in francs, with or without the currency."""
    text = text.strip()
    for currency in ("CHF", "Fr."):
        if text.startswith(currency):
            text = text[len(currency):].strip()
    if text.endswith(".-"):
        text = text[:-2]
    return Decimal(text)


def count(text):
    text = text.strip()
    if text.endswith("x"):
        text = text[:-1]
    return int(text.replace("'", ""))


def fields(row):
    parts = [part.strip() for part in row.split(";")]
    if len(parts) == 5:
        parts.append("")
    if len(parts) != 6:
        raise OrderError(f"{len(parts)} parts: {row!r}")
    return parts


def orders(text):
    found = {}
    rows = text.splitlines()
    if not rows or rows[0].strip() != HEADER:
        raise OrderError("no header")
    for row in rows[1:]:
        if not row.strip() or row.startswith("#"):
            continue
        number, customer, article, amount, cost, note = fields(row)
        order = found.setdefault(number, Order(number, customer))
        if order.customer != customer:
            raise OrderError(f"{number} has two customers")
        order.add(Line(article, count(amount), price(cost)))
        if note:
            order.notes.append(note)
    return list(found.values())
