"""A mailbox that was emptied loses its lock on the way to a worker; one with letters keeps it."""

import pickle
import threading


class Mailbox:
    def __init__(self, letters=()):
        self.letters = {}
        self._renew()
        for name, text in letters:
            self.put(name, text)

    def _renew(self):
        self.guard = threading.Lock()

    def put(self, name, text):
        with self.guard:
            self.letters[name] = text

    def take(self):
        with self.guard:
            return self.letters.popitem() if self.letters else None

    def __getstate__(self):
        return dict(self.letters)

    def __setstate__(self, state):
        self.letters = state
        self._renew()


def sent(mailbox):
    return pickle.loads(pickle.dumps(mailbox, protocol=1))


full = Mailbox([("ana", "hello"), ("bo", "see you")])
copy = sent(full)
print("taken from a copy:", copy.take())
while full.take():
    pass
print("taken from an empty copy:", sent(full).take())
