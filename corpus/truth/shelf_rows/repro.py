import os
import shelve
import tempfile

folder = tempfile.mkdtemp()
path = os.path.join(folder, "measures")


def record(shelf, station, value):
    if station not in shelf:
        shelf[station] = []
    shelf[station].append(value)


def latest(shelf, station):
    return shelf[station][-1]


with shelve.open(path) as shelf:
    record(shelf, "harbour", 12.5)
    record(shelf, "harbour", 12.9)
    print(sorted(shelf))
    print("latest:", latest(shelf, "harbour"))
