"""Shift calendar for the observatory: who is on duty, which bookings collide.

Reads a small subset of iCalendar. Crashes since the maintenance days
(all-day events) are in the feed, somewhere below find_conflicts().
"""
import itertools
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import Iterable, Iterator, Optional

ZERO = timedelta(0)
HOUR = timedelta(hours=1)


class SummerTime(tzinfo):
    """Fixed offset, one hour more from April to October. Good enough here."""

    def __init__(self, hours: int, name: str) -> None:
        self.base = hours * HOUR
        self.name = name

    def dst(self, when: Optional[datetime]) -> timedelta:
        if when is None:
            return ZERO
        return HOUR if 4 <= when.month <= 10 else ZERO

    def utcoffset(self, when):
        return self.base + self.dst(when)

    def tzname(self, when):
        return self.name + ("S" if self.dst(when) else "")

    def __repr__(self):
        return f"SummerTime({self.name})"


ZONES = {
    "Europe/Vienna": SummerTime(1, "CET"),
    "America/Santiago": SummerTime(-4, "CLT"),
    "UTC": timezone.utc,
}

FEED = """\
BEGIN:VEVENT
SUMMARY:Spectrograph run
ATTENDEE:mira
DTSTART;TZID=Europe/Vienna:20230612T210000
DURATION:PT5H30M
END:VEVENT
BEGIN:VEVENT
SUMMARY:Public evening
ATTENDEE:jonas
DTSTART;TZID=America/Santiago:20230612T160000
DURATION:PT2H
END:VEVENT
BEGIN:VEVENT
SUMMARY:Dome maintenance
ATTENDEE:mira
DTSTART;VALUE=DATE:20230613
END:VEVENT
BEGIN:VEVENT
SUMMARY:Photometry
ATTENDEE:lena
DTSTART:20230614T200000Z
DURATION:PT45M
END:VEVENT
"""

LINE = re.compile(r"(?P<key>[A-Z]+)(?:;(?P<options>[^:]*))?:(?P<value>.*)")
DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?$")


@dataclass(frozen=True)
class Interval:
    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    def common(self, other: "Interval") -> "Interval":
        return Interval(max(self.start, other.start), min(self.end, other.end))

    def overlaps(self, other: "Interval") -> bool:
        return self.common(other).length > ZERO


@dataclass
class Event:
    summary: str
    when: Interval
    people: list = field(default_factory=list)

    def __str__(self):
        return f"{self.when.start:%a %d %b %H:%M} {self.summary} ({', '.join(self.people)})"


def parse_duration(text: str) -> timedelta:
    found = DURATION.match(text)
    if not found:
        print("odd duration", text, file=sys.stderr)
        return HOUR
    hours, minutes = (int(part or 0) for part in found.groups())
    return timedelta(hours=hours, minutes=minutes)


def parse_moment(value: str, options: dict) -> datetime:
    if options.get("VALUE") == "DATE":
        day = date(int(value[:4]), int(value[4:6]), int(value[6:8]))
        return datetime.combine(day, time.min)
    moment = datetime.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S")
    return moment.replace(tzinfo=ZONES[options.get("TZID", "UTC")])


class Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.skipped = Counter()

    def blocks(self) -> Iterator[dict]:
        block = {}
        for line in self.lines:
            found = LINE.fullmatch(line)
            if found is None:
                self.skipped[line] += 1
            elif found["key"] == "BEGIN":
                block = {}
            elif found["key"] == "END":
                yield block
            else:
                options = dict(o.split("=") for o in (found["options"] or "").split(";") if o)
                block[found["key"]] = found["value"], options

    def events(self) -> Iterator[Event]:
        for block in self.blocks():
            start = parse_moment(*block["DTSTART"])
            length = timedelta(days=1)
            if "DURATION" in block:
                length = parse_duration(block["DURATION"][0])
            people = block.get("ATTENDEE", ("nobody", {}))[0].split(",")
            yield Event(block["SUMMARY"][0], Interval(start, start + length), people)


class Calendar:
    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)

    def hours(self) -> dict:
        result = defaultdict(float)
        for event in self.events:
            for person in event.people:
                result[person] += event.when.length / HOUR
        return dict(result)

    def find_conflicts(self) -> Iterator[tuple]:
        for one, two in itertools.combinations(self.events, 2):
            if one.when.overlaps(two.when):
                yield one, two


def main() -> int:
    reader = Reader(FEED)
    calendar = Calendar(reader.events())
    for event in calendar.events:
        print(event)
    for person, hours in sorted(calendar.hours().items()):
        print(f"{person:8}{hours:6.2f} h")
    for one, two in calendar.find_conflicts():
        print("conflict:", one, "/", two)
    return len(reader.skipped)


if __name__ == "__main__":
    sys.exit(main())
