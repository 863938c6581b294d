"""Daily means of the sensors of a house, computed side by side."""
from concurrent.futures import ThreadPoolExecutor
from statistics import mean

READINGS = {
    "attic": "21.5 22.0 23.5",
    "cellar": "11.0 11,5 12.0",
    "hall": "18.5 18.0",
}
LIMITS = {"attic": 30, "hall": 24, "cellar": 16}
COLOURS = ["green", "yellow", "red"]


class Means:
    def __init__(self):
        self.found = {}
        self.done = []

    def add(self, room, text):
        values = [float(word) for word in text.split()]
        self.found[room] = round(mean(values), 1)
        self.done.append(room)

    def of(self, room):
        return self.found[room]


def widest(readings):
    return max(readings, key=lambda room: len(readings[room]))


def colour(value, limit):
    share = value / limit
    return COLOURS[min(int(share * 3), 2)]


def collect(readings):
    means = Means()
    with ThreadPoolExecutor(max_workers=2) as pool:
        for room, text in readings.items():
            pool.submit(means.add, room, text)
    return means


def main():
    print("most readings:", widest(READINGS))
    means = collect(READINGS)
    for room, limit in LIMITS.items():
        value = means.of(room)
        print(f"{room:8} {value:5} {colour(value, limit)}")


if __name__ == "__main__":
    main()
