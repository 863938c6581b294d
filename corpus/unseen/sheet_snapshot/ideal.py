import pickle

class Border:
    __slots__ = "width"

pickle.dumps(Border(), 1)
