"""Who asked for which flag."""
import json
from collections import Counter


class Audit:
    def __init__(self, path):
        self.path = path
        self.counts = Counter()
        self.file = None

    @property
    def is_open(self):
        return self.file is not None

    def open(self):
        self.file = open(self.path, "a", encoding="utf-8")
        return self

    def note(self, flag, user, answer):
        self.counts[flag.name, answer] += 1
        if self.is_open:
            line = {"flag": flag.name, "user": user.name, "answer": answer}
            self.file.write(json.dumps(line) + "\n")

    def close(self):
        if self.is_open:
            self.file.close()
            self.file = None
