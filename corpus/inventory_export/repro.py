#!/usr/bin/env python3
"""
inventory_export.py - nightly export of the warehouse inventory

Since we moved the supplier codes into sets the export dies with a TypeError when a report
with history is written. Without history everything is fine. Trimmed down from our real tool,
sorry for the length.
"""
import argparse
import collections
import datetime
import io
import json
import logging
import os
import re
import sys
from dataclasses import dataclass, field, asdict
from decimal import Decimal
from typing import Any, Dict, Iterable, List, Optional, Set

LOG = logging.getLogger("inventory")

UNITS = {"pcs": 1, "box": 12, "pallet": 480}
SKU_PATTERN = re.compile(r"^(?P<family>[A-Z]{2,4})-(?P<number>\d{3,6})$")

RAW_ITEMS = [
    {"sku": "HX-1001", "name": "hex bolt M6", "amount": 140, "unit": "pcs", "price": "0.12"},
    {"sku": "HX-1002", "name": "hex bolt M8", "amount": 12, "unit": "box", "price": "0.19"},
    {"sku": "WSH-220", "name": "washer 20mm", "amount": 3, "unit": "pallet", "price": "0.02"},
    {"sku": "NUT-9000", "name": "wing nut", "amount": 77, "unit": "pcs", "price": "0.31"},
]

SUPPLIERS = {
    "HX": {"ACME", "BOLTCO"},
    "WSH": {"ACME"},
    "NUT": {"NUTS4U", "BOLTCO", "ACME"},
}


class ExportError(Exception):
    """Raised for broken rows."""


@dataclass
class Movement:
    day: int
    amount: int
    reason: str = "unknown"


@dataclass
class Item:
    sku: str
    name: str
    amount: int
    price: float
    suppliers: Set[str] = field(default_factory=set)
    history: List[Movement] = field(default_factory=list)

    @property
    def family(self) -> str:
        match = SKU_PATTERN.match(self.sku)
        if match is None:
            raise ExportError("bad sku: %r" % self.sku)
        return match.group("family")

    def total(self) -> float:
        return round(self.amount * self.price, 2)

    def book(self, amount: int, reason: str, day: int = 0) -> "Item":
        self.amount += amount
        self.history.append(Movement(day, amount, reason))
        return self


class Encoder(json.JSONEncoder):
    """Knows the types of this module."""

    def default(self, value: Any) -> Any:
        if isinstance(value, Movement):
            return {"day": value.day, "amount": value.amount, "by": {value.reason}}
        if isinstance(value, (datetime.date, datetime.datetime)):
            return value.isoformat()
        if isinstance(value, Decimal):
            return str(value)
        return super().default(value)


def load(rows: Iterable[Dict[str, Any]]) -> List[Item]:
    items = []
    for row in rows:
        amount = row["amount"] * UNITS.get(row["unit"], 1)
        item = Item(row["sku"], row["name"], amount, float(row["price"]))
        item.suppliers |= SUPPLIERS.get(item.family, set())
        items.append(item)
    LOG.debug("loaded %d items", len(items))
    return items


def statistics(items: List[Item]) -> Dict[str, float]:
    result = collections.defaultdict(float)
    for item in items:
        result["count"] += item.amount
        result["value"] += item.total()
        result["max"] = max(result["max"], item.price)
    if result["count"]:
        result["mean"] = result["value"] / result["count"]
    return dict(result)


def describe(item: Item, with_history: bool = False) -> Dict[str, Any]:
    data = {
        "sku": item.sku,
        "name": item.name.title(),
        "amount": item.amount,
        "value": item.total(),
        "suppliers": sorted(item.suppliers),
    }
    if with_history:
        data["history"] = list(item.history)
    return data


def export(items: List[Item], stream: io.TextIOBase, with_history: bool = False) -> int:
    report = {
        "generated": "2024-03-01",
        "statistics": statistics(items),
        "items": [describe(item, with_history) for item in items],
    }
    text = json.dumps(report, cls=Encoder, indent=2, sort_keys=True)
    return stream.write(text)


def simulate(items: List[Item]) -> None:
    for day, item in enumerate(items):
        item.book(-1, "sold", day)
        if item.amount > 100:
            item.book(-10, "sold", day + 1)
        elif item.family == "NUT":
            item.book(5, "returned", day=day + 2)


def parse_args(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", action="store_true", default=True)
    parser.add_argument("--output", default="-")
    parser.add_argument("-v", "--verbose", action="count", default=0)
    return parser.parse_args(argv)


def main() -> int:
    args = parse_args([])
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.WARNING)
    items = load(RAW_ITEMS)
    simulate(items)
    stream = io.StringIO()
    try:
        size = export(items, stream, with_history=args.history)
    except ExportError as error:
        LOG.error("export failed: %s", error)
        return 2
    finally:
        LOG.info("done")
    print("wrote", size, "characters in", os.getcwd())
    return 0


if __name__ == "__main__":
    sys.exit(main())
