#!/usr/bin/env python3
"""Cash book of our rowing club, kept in SQLite.

Postings and the trial balance have worked for two years. Since I added the
account statement (`Ledger.statement`) the program stops with a traceback
about bindings - but there is one question mark and I pass one value!
"""
import contextlib
import datetime
import logging
import sqlite3
import sys
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field

log = logging.getLogger("ledger")

SCHEMA = """
create table account (
    id integer primary key,
    name text not null unique,
    kind text not null check (kind in ('asset', 'income', 'expense'))
);
create table posting (
    id integer primary key,
    day text not null,
    account_id integer not null references account (id),
    cents integer not null,
    note text default ''
);
create index posting_day on posting (day);
"""

ACCOUNTS = {
    "cash": "asset",
    "bank": "asset",
    "fees": "income",
    "donations": "income",
    "boats": "expense",
    "boathouse": "expense",
}


@dataclass(order=True)
class Entry:
    day: datetime.date
    debit: str
    credit: str
    cents: int
    note: str = field(default="", compare=False)

    def lines(self):
        yield self.debit, self.cents
        yield self.credit, -self.cents


BOOK = [
    Entry(datetime.date(2023, 1, 7), "bank", "fees", 36000, "annual fees, first half"),
    Entry(datetime.date(2023, 1, 9), "cash", "donations", 5000, "jar on the counter"),
    Entry(datetime.date(2023, 2, 1), "boathouse", "bank", 12550, "heating"),
    Entry(datetime.date(2023, 2, 14), "boats", "cash", 1999, "varnish"),
    Entry(datetime.date(2023, 3, 2), "bank", "fees", 34000, "annual fees, second half"),
]


def euros(cents):
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{rest:02d}"


class Ledger:
    def __init__(self, path=":memory:", *, verbose=False):
        self.connection = sqlite3.connect(path)
        self.connection.row_factory = sqlite3.Row
        self.connection.create_function("euros", 1, euros)
        if verbose:
            self.connection.set_trace_callback(log.debug)
        self.ids = {}

    def create(self):
        self.connection.executescript(SCHEMA)
        with self.connection:
            for name, kind in ACCOUNTS.items():
                cursor = self.connection.execute(
                    "insert into account (name, kind) values (?, ?)", (name, kind)
                )
                self.ids[name] = cursor.lastrowid
        log.info("created %d accounts", len(self.ids))

    def query(self, sql, parameters=()):
        with contextlib.closing(self.connection.cursor()) as cursor:
            cursor.execute(textwrap.dedent(sql), parameters)
            return cursor.fetchall()

    def post(self, entry):
        if entry.cents <= 0:
            log.warning("nothing to post: %r", entry)
            return
        with self.connection:
            self.connection.executemany(
                "insert into posting (day, account_id, cents, note) values (?, ?, ?, ?)",
                [
                    (entry.day.isoformat(), self.ids[name], cents, entry.note)
                    for name, cents in entry.lines()
                ],
            )

    def balance(self):
        rows = self.query(
            """
            select name, kind, coalesce(sum(cents), 0) as total
            from account left join posting on account.id = account_id
            group by name order by kind, name
            """
        )
        return {row["name"]: (row["kind"], row["total"]) for row in rows}

    def statement(self, name):
        return self.query(
            """
            select day, cents, note, euros(cents) as amount
            from posting join account on account.id = account_id
            where account.name = ?
            order by day
            """,
            (name),
        )

    def close(self):
        self.connection.close()


class Report:
    width = 46

    def __init__(self, ledger, out=sys.stdout):
        self.ledger = ledger
        self.out = out

    def line(self, left, right=""):
        print(left.ljust(self.width - len(right), "."), right, sep="", file=self.out)

    def trial_balance(self):
        totals = defaultdict(int)
        for name, (kind, total) in self.ledger.balance().items():
            totals[kind] += total
            self.line(f"{kind:8} {name}", euros(total))
        self.line("sum", euros(sum(totals.values())))

    def statements(self, names):
        for name in names:
            print(f"\n== {name} ==", file=self.out)
            running = 0
            for row in self.ledger.statement(name):
                running += row["cents"]
                self.line(f"{row['day']} {row['note'][:20]}", row["amount"])
            self.line("balance", euros(running))


def main():
    verbose = "-v" in sys.argv
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING)
    ledger = Ledger(verbose=verbose)
    try:
        ledger.create()
        for entry in sorted(BOOK):
            ledger.post(entry)
        report = Report(ledger)
        report.trial_balance()
        report.statements(n for n, kind in ACCOUNTS.items() if kind == "asset")
    finally:
        ledger.close()


if __name__ == "__main__":
    main()
