"""Builds a table with a column for every import, and prints it.

Fails on our CI every other night, with no change in between. Locally I had to run it a few times to see it:

    ValueError: Type names and field names must be valid identifiers: ...
"""
import argparse
import collections
import logging
import time
import uuid

logging.basicConfig(level=logging.WARNING)
log = logging.getLogger("tables")

DEFAULTS = {"id": 0, "name": "", "note": None}


class Timer:
    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.started = time.perf_counter()
        return self

    def __exit__(self, *_):
        log.info("%s took %.3f s", self.what, time.perf_counter() - self.started)


class Column:
    def __init__(self, name, kind=str, default=None):
        self.name = name
        self.kind = kind
        self.default = default

    def convert(self, value):
        return self.default if value is None else self.kind(value)

    def __repr__(self):
        return "Column(%r)" % self.name


class Schema:
    def __init__(self, title):
        self.title = title
        self.columns = [Column(name, type(value), value) for name, value in DEFAULTS.items()]

    def add(self, name, kind=str):
        log.debug("adding %s", name)
        self.columns.append(Column(name, kind))
        return self

    def row_type(self):
        return collections.namedtuple(self.title, [column.name for column in self.columns])


def import_id():
    # unique for each import, and short enough for a header
    return uuid.uuid4().hex[:8]


def render(rows):
    return "\n".join(" | ".join(str(value) for value in row) for row in rows)


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3)
    options = parser.parse_args(argv)
    schema = Schema("Row").add("created", float).add(import_id(), int)
    with Timer("building"):
        Row = schema.row_type()
        rows = [Row(number, "row %d" % number, None, time.time(), 1) for number in range(options.rows)]
    print(render(rows))


if __name__ == "__main__":
    main([])
