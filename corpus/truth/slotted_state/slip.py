import pickle


class Probe:
    def __init__(self):
        self.level = 0.7

    def __getstate__(self):
        return {}


pickle.loads(pickle.dumps(Probe())).level
