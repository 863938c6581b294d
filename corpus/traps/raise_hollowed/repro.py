"""Balances a ledger of cents kept as floats."""
import json
import sys

ROWS = """[
  {"account": "cash", "amount": 0.1, "tags": ["in"]},
  {"account": "cash", "amount": 0.2, "tags": []},
  {"account": "fees", "amount": -0.3, "tags": ["out"]}
]"""


class LedgerError(Exception):
    pass


class Ledger:
    def __init__(self, rows):
        self.rows = rows
        self.seen = set()

    def total(self):
        result = 0.0
        for row in self.rows:
            self.seen.add(row["account"])
            result += row["amount"]
        return result

    def verify(self):
        total = self.total()
        if total != 0:
            raise LedgerError("the ledger does not balance: %r left in %s" % (total, sorted(self.seen)))


def main(arguments):
    if "--quiet" not in arguments:
        print("reading")
    ledger = Ledger(json.loads(ROWS))
    ledger.verify()
    print("balanced")


main(sys.argv[1:])
