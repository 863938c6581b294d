"""Workers with labels: some run in threads, some do not."""

import threading


class Labelled:
    def __init__(self):
        super().__init__()
        self.labels = {"host": "local"}

    def label(self, name, value):
        self.labels[name] = value


class Inline(Labelled):
    def run(self):
        return len(self.labels)


class Counter(threading.Thread, Labelled):
    def __init__(self, most):
        super().__init__(daemon=True)
        self.most = most
        self.count = 0

    def run(self):
        while self.count < self.most:
            self.count += 1


inline = Inline()
inline.label("kind", "inline")
print(inline.run(), inline.labels)

counter = Counter(10)
counter.start()
counter.join()
print(counter.count)
counter.label("kind", "thread")
