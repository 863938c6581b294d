"""Reads measurements of a weather station and prints the warmest."""

import time
from dataclasses import dataclass

LINES = [
    "06:00 4.5 81",
    "09:00 9.0 70",
    "12:00 n/a 64",
    "15:00 14.5 58",
]


@dataclass
class Sample:
    hour: str
    degrees: float
    humidity: int


class Errors:
    """Counts how many blocks fail, and gives up after a few."""

    def __init__(self, most):
        self.most = most
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.count += 1
        return self.count < self.most


def read(line, errors):
    with errors:
        hour, degrees, humidity = line.split()
        return Sample(hour, float(degrees), int(humidity))


def mean(samples):
    return sum(samples) / max(1, len(samples))


begun = time.perf_counter()
errors = Errors(most=3)
samples = []
for line in LINES:
    samples.append(read(line, errors))
print(len(samples), "samples,", errors.count, "errors")
print("humidity", mean([int(line.split()[2]) for line in LINES]))
warmest = max(samples, key=lambda sample: sample.degrees)
print(warmest.hour, warmest.degrees, "after", time.perf_counter() - begun)
