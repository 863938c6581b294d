"""Gives shifts to people: nights first, as few can work them."""
import logging

from .constants import *
from .shifts import Kind

log = logging.getLogger(__name__)

ORDER = (Kind.NIGHT, Kind.LATE, Kind.EARLY)


def candidates(team, shift):
    return [person for person in team if person.can(shift)]


def plan(roster):
    """Assigns the open shifts of a roster, and returns those for which there is nobody."""
    left = []
    for kind in ORDER:
        for shift in roster.of(kind):
            if not shift.is_open:
                continue
            able = candidates(roster.team, shift)
            if not able:
                log.info("nobody can work on %s (%s to %s)", shift, *HOURS[kind.value])
                left.append(shift)
                continue
            able[0].take(shift)
    check(roster)
    return left


def check(roster):
    for person in roster.team:
        hours = len(person.assigned) * FULL_TIME / FULL_WEEK
        if hours > FULL_TIME:
            log.warning("%s works %.1f hours", person, hours)
