import copy


class Record:
    def __init__(self):
        self.fields = {}

    def __getattr__(self, name):
        if name in self.fields:
            return self.fields[name]
        raise AttributeError(name)


copy.copy(Record())
