import pickle


class Probe:
    __slots__ = ("level",)

    def __init__(self):
        self.level = 0.7

    def __setstate__(self, state):
        pass


pickle.loads(pickle.dumps(Probe())).level
