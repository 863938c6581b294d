import string

TEMPLATE = "{0}: {1} grams"


class Ledger:
    def __init__(self, template):
        self.template = template
        self.lines = []
        self.show = string.Formatter().format

    def add(self, row):
        line = self.show(self.template, row)
        self.lines.append(line)

    def total(self):
        return sum(len(line) for line in self.lines)


def weighed():
    for name, grams in {"flour": 500, "salt": 8}.items():
        yield name, grams


ledger = Ledger(TEMPLATE)
for row in weighed():
    ledger.add(row)
print(ledger.total())
