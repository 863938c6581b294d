"""Columns that a decorator adds to a record do not know their names."""


class Column:
    def __init__(self, kind, default=None):
        self.kind = kind
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name
        owner.columns.append(name)

    def __get__(self, record, owner=None):
        if record is None:
            return self
        return record.__dict__.get(self.name, self.default)

    def __set__(self, record, value):
        record.__dict__[self.name] = self.kind(value)


def stamped(cls):
    for name in ("created", "updated"):
        setattr(cls, name, Column(float, 0.0))
    return cls


@stamped
class Parcel:
    columns = []
    sender = Column(str)
    grams = Column(int, 100)

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


parcels = [Parcel(sender="ana"), Parcel(sender="bo", grams="250")]
print(Parcel.columns)
for parcel in parcels:
    print(parcel.sender, parcel.grams, parcel.updated)
