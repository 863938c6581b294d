import pickle


class Mailbox:
    def __init__(self):
        self.guard = 0

    def __getstate__(self):
        return {}


pickle.loads(pickle.dumps(Mailbox(), 1)).guard
