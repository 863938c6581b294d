"""Shifts, and the roster that holds them."""
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import List, Optional

from . import people
from .constants import DAYS, HOURS
from .events import bus

__all__ = ["Kind", "Roster", "Shift", "rest_between"]


class Kind(Enum):
    EARLY = "early"
    LATE = "late"
    NIGHT = "night"

    @property
    def hours(self):
        return HOURS[self.value]


@dataclass
class Shift:
    day: date
    kind: Kind
    person: Optional["people.Person"] = field(default=None, compare=False)

    def __str__(self):
        return f"{self.day:%a} {self.kind.value}"

    @property
    def start(self) -> datetime:
        return datetime.combine(self.day, time(self.kind.hours[0]))

    @property
    def end(self) -> datetime:
        first, last = self.kind.hours
        day = self.day + timedelta(days=last < first)
        return datetime.combine(day, time(last))

    @property
    def is_open(self) -> bool:
        return self.person is None


def rest_between(one: Shift, other: Shift) -> float:
    """Hours between two shifts, in whatever order."""
    first, second = sorted((one, other), key=lambda shift: shift.start)
    return (second.start - first.end).total_seconds() / 3600


class Roster:
    """The shifts of a week, and the team that works them."""

    def __init__(self, monday: date):
        self.monday = monday
        self.team = people.Team()
        self.shifts: List[Shift] = [
            Shift(monday + timedelta(days=day), kind) for day in range(DAYS) for kind in Kind
        ]

    def hire(self, person) -> None:
        self.team.add(person)

    def of(self, kind: Kind) -> List[Shift]:
        return [shift for shift in self.shifts if shift.kind is kind]

    def cancel(self, shift: Shift) -> None:
        self.shifts.remove(shift)
        bus.send("cancelled", shift)

    @property
    def open(self) -> List[Shift]:
        return [shift for shift in self.shifts if shift.is_open]
