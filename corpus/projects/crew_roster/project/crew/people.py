"""People, and what they may do."""
from . import shifts
from .constants import FULL_WEEK, REST
from .events import bus

__all__ = ["Person", "Team"]


class Person:
    """Someone who works shifts. There are many of them, so they have no dictionaries."""

    __slots__ = ("name", "kinds", "workload", "assigned", "notices")

    def __init__(self, name, kinds, workload=100):
        self.name = name
        self.kinds = tuple(kinds)
        self.workload = workload
        self.assigned = []
        self.notices = []

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self):
        return self.name

    @property
    def initials(self):
        return "".join(part[0] for part in self.name.split())

    @property
    def most(self):
        """Shifts in a week, at most."""
        return max(1, round(FULL_WEEK * self.workload / 100))

    def can(self, shift):
        if shift.kind not in self.kinds or len(self.assigned) >= self.most:
            return False
        return all(shifts.rest_between(other, shift) >= REST for other in self.assigned)

    def take(self, shift):
        self.assigned.append(shift)
        shift.person = self
        bus.send("assigned", shift)

    def cancelled(self, shift):
        """Hears that a shift does not take place."""
        if shift in self.assigned:
            self.assigned.remove(shift)
            self.notices.append(f"{shift} is cancelled")


class Team:
    """People in the order in which they are asked."""

    def __init__(self):
        self.people = []

    def __iter__(self):
        return iter(sorted(self.people, key=lambda person: (len(person.assigned), person.name)))

    def __len__(self):
        return len(self.people)

    def add(self, person):
        self.people.append(person)
        bus.on("cancelled", person.cancelled)

    def named(self, name):
        for person in self.people:
            if name in (person.name, person.initials):
                return person
        raise LookupError(name)
