import copy


class Record:
    def __init__(self, **fields):
        self.fields = dict(fields)

    def __getattr__(self, name):
        if name in self.fields:
            return self.fields[name]
        raise AttributeError(name)

    def price(self):
        return self.amount * self.rate


def total(records):
    return sum(record.price() for record in records)


records = [Record(amount=3, rate=20), Record(amount=1, rate=15)]
print("total:", total(records))
kept = [copy.copy(record) for record in records]
print("kept:", total(kept))
