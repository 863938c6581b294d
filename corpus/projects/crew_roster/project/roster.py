#!/usr/bin/env python3
"""Plans the shifts of one week and prints who works when."""
import argparse
import datetime
import sys

import crew
import crew.display
from crew import Kind, Roster, plan
from crew.constants import *
from crew.events import bus

STAFF = """
Ada Brunner; early, late; 80
Jonas Egli; early; 100
Mira Kunz; late, night; 100
Noah Lang; night, early, late; 60
Sina Meier; late; 40
"""


def week(text):
    """The first day of a week such as `2024-18`."""
    return datetime.datetime.strptime(f"{text}-1", "%G-%V-%u").date()


def staff(text):
    for line in text.strip().splitlines():
        name, kinds, workload = (part.strip() for part in line.split(";"))
        yield crew.Person(name, [Kind(kind.strip()) for kind in kinds.split(",")], int(workload))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--week", type=week, default=week("2024-01"))
    parser.add_argument("--width", type=int, default=COLUMN)
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args(arguments)

    roster = Roster(options.week)
    changes = []
    bus.on("assigned", changes.append)
    for person in staff(STAFF):
        roster.hire(person)
    open_shifts = plan(roster)
    if not options.quiet:
        for line in crew.display.lines(roster, options.width):
            print(line)
    print(f"{len(changes)} shifts assigned, {len(open_shifts)} open, {DAYS * len(Kind)} in all")
    return 1 if open_shifts else 0


if __name__ == "__main__":
    sys.exit(main())
