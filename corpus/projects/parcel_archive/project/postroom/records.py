"""What the scanners report."""
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Iterable, List, Optional

from .compat import without_prefix

#: The time of a scan that has none: before all others.
UNKNOWN = datetime(1970, 1, 1)


@dataclass(order=True)
class Scan:
    time: datetime
    parcel: str = field(compare=False)
    gate: str = field(compare=False)
    weight: float = field(compare=False, default=0.0)
    note: str = field(compare=False, default="")

    @property
    def number(self) -> int:
        return int(without_prefix(self.parcel, "P-"))

    @property
    def is_timed(self) -> bool:
        return self.time != UNKNOWN

    def line(self) -> str:
        time = self.time.isoformat(" ", "minutes") if self.is_timed else "-" * 16
        text = f"{time}  {self.gate:<8}{self.weight:>8.3f} kg"
        return f"{text}  {self.note}" if self.note else text


@dataclass
class Parcel:
    name: str
    scans: List[Scan] = field(default_factory=list)

    def add(self, scan: Scan) -> None:
        self.scans.append(scan)
        self.scans.sort()

    @property
    def first(self) -> Scan:
        return self.scans[0]

    @property
    def last(self) -> Scan:
        return self.scans[-1]

    @property
    def weight(self) -> float:
        return max(scan.weight for scan in self.scans)

    @property
    def duration(self) -> Optional[timedelta]:
        """From the first scan to the last, if there are two with a time."""
        timed = [scan.time for scan in self.scans if scan.is_timed]
        if len(timed) < 2:
            return None
        return timed[-1] - timed[0]

    def text(self) -> str:
        head = f"{self.name}, {self.weight:.3f} kg"
        lines = [head, "=" * len(head)]
        lines.extend(scan.line() for scan in self.scans)
        if self.duration is not None:
            lines.append(f"under way for {self.duration}")
        return "\n".join(lines) + "\n"


def by_parcel(scans: Iterable[Scan]) -> List[Parcel]:
    found = OrderedDict()
    for scan in scans:
        parcel = found.setdefault(scan.parcel, Parcel(scan.parcel))
        parcel.add(scan)
    return sorted(found.values(), key=lambda parcel: parcel.first.number)
