import pickle


class Stored:
    def __getstate__(self):
        return self.__dict__


class Probe(Stored):
    __slots__ = ("level",)

    def __init__(self):
        self.level = 0.7


pickle.loads(pickle.dumps(Probe())).level
