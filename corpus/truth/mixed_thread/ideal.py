import threading

class Labelled:
    def __init__(self):
        self.labels = {}

class Counter(threading.Thread, Labelled):
    pass

Counter().labels
