"""Reads the tables that the scanners write."""
import csv
import logging
from datetime import datetime
from pathlib import Path
from typing import Iterator, List

from .config import Depot
from .records import UNKNOWN, Scan

log = logging.getLogger(__name__)

COLUMNS = ("parcel", "depot", "gate", "time", "weight", "note")


class scanner_table(csv.excel):
    """Tables as the scanners write them."""

    delimiter = ";"
    skipinitialspace = True


def _time(text: str) -> datetime:
    text = text.strip()
    if not text:
        return UNKNOWN
    return datetime.strptime(text, "%Y-%m-%dT%H:%M")


def _weight(text: str) -> float:
    text = text.strip().replace(",", ".")
    return float(text) if text else 0.0


def rows(lines) -> Iterator[dict]:
    table = csv.DictReader(lines, dialect=scanner_table)
    missing = set(COLUMNS) - set(table.fieldnames or ())
    if missing:
        raise ValueError(f"columns are missing: {', '.join(sorted(missing))}")
    for number, row in enumerate(table, 2):
        if None in row:
            log.warning("line %d has too many parts", number)
            row.pop(None)
        yield row


def read_scans(path: Path, depot: Depot) -> List[Scan]:
    found = []
    with open(path, encoding="utf-8", newline="") as lines:
        for row in rows(lines):
            if row["depot"] != depot.name:
                continue
            gate = depot.gate(row["gate"])
            scan = Scan(
                time=_time(row["time"]),
                parcel=row["parcel"],
                gate=gate.name,
                weight=_weight(row["weight"]),
                note=(row["note"] or "").strip(),
            )
            if gate.is_manual and not scan.note:
                log.info("%s was typed in without a note", scan.parcel)
            found.append(scan)
    return found
