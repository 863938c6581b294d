"""Keeps probes of a tank in a file between two shifts."""
import io
import pickle


class Stored:
    """Anything that is kept; leaves out what begins with an underscore."""

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __setstate__(self, state):
        for name, value in state.items():
            setattr(self, name, value)


class Shift(Stored):
    def __init__(self, number, crew):
        self.number = number
        self.crew = crew
        self._open = True


class Probe(Stored):
    __slots__ = ("level", "depth")

    def __init__(self, level, depth):
        self.level = level
        self.depth = depth


def kept(things):
    store = io.BytesIO()
    for thing in things:
        pickle.dump(thing, store)
    store.seek(0)
    return [pickle.load(store) for _ in things]


shift, *probes = kept([Shift(3, ["ida", "tom"]), Probe(0.7, 2), Probe(0.9, 5)])
print("shift", shift.number, "of", " and ".join(shift.crew))
print("mean level", sum(probe.level for probe in probes) / len(probes))
