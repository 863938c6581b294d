"""The roster as a table."""
from .constants import COLUMN, DAYS
from .shifts import Kind


def cell(text, width):
    return str(text)[: width - 1].ljust(width)


def lines(roster, width=COLUMN):
    days = [roster.of(Kind.EARLY)[day].day for day in range(min(DAYS, len(roster.of(Kind.EARLY))))]
    yield cell("", width) + "".join(cell(f"{day:%a %d.%m.}", width) for day in days)
    for kind in Kind:
        names = (shift.person.initials if shift.person else "-" for shift in roster.of(kind))
        yield cell(kind.value, width) + "".join(cell(name, width) for name in names)
    yield ""
    for person in roster.team:
        share = len(person.assigned) / person.most
        yield f"{cell(person, 2 * width)}{len(person.assigned)} of {person.most} {share:>6.0%}"
