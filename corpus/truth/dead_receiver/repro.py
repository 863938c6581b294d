import gc
import weakref


class Signal:
    def __init__(self):
        self.receivers = []

    def connect(self, method):
        self.receivers.append((weakref.proxy(method.__self__), method.__func__.__name__))

    def send(self, value):
        return [getattr(receiver, name)(value) for receiver, name in self.receivers]


class Listener:
    def __init__(self, label):
        self.label = label

    def heard(self, value):
        return f"{self.label}: {value}"


def connect_all(signal):
    kept, lost = Listener("kept"), Listener("lost")
    signal.connect(kept.heard)
    signal.connect(lost.heard)
    return kept


signal = Signal()
kept = connect_all(signal)
gc.collect()
print(signal.send(1))
