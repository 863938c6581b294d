#!/usr/bin/env python3
"""Discrete-event simulation of an outpatient clinic.

With 10 patients all is well. With 40 it dies in heapq after some simulated
minutes. Seeds that fail: 4, 6, 7, ...; a different minute with each.
"""
import bisect
import heapq
import random
import statistics
import sys
from collections import ChainMap, Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from itertools import accumulate, count

DEFAULTS = {
    "seed": 4,
    "patients": 40,
    "doctors": 2,
    "open": 8 * 60,
    "close": 16 * 60,
    "verbose": False,
}
PRESETS = {
    "monday": {"patients": 60, "doctors": 3},
    "night": {"doctors": 1},
    "normal": {},
}

URGENCY = {"red": 0, "yellow": 1, "green": 2}
WEIGHTS = [("red", 1), ("yellow", 3), ("green", 6)]
LIMITS = [15, 30, 60]
NAMES = ["short", "bearable", "long", "scandalous"]

Event = namedtuple("Event", "minute serial action patient")


@dataclass
class Patient:
    number: int
    urgency: str
    arrival: int
    treatment: int
    started: int = None
    finished: int = None
    history: list = field(default_factory=list, repr=False)

    @property
    def waited(self):
        return self.started - self.arrival

    def note(self, minute, text):
        self.history.append((minute, text))


def clock(minute):
    return "{:02}:{:02}".format(*divmod(minute, 60))


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.steps = list(accumulate(weight for _, weight in WEIGHTS))

    def urgency(self):
        roll = self.random.randrange(self.steps[-1])
        return WEIGHTS[bisect.bisect(self.steps, roll)][0]

    def minutes(self, mean):
        return max(3, round(self.random.gauss(mean, mean / 3)))

    def moment(self, first, last):
        return self.random.randrange(first, last)


class WaitingRoom:
    """Most urgent first; among equals who came first."""

    def __init__(self):
        self.heap = []
        self.longest = 0
        self.seen = Counter()

    def enter(self, patient):
        heapq.heappush(self.heap, (URGENCY[patient.urgency], patient.arrival, patient))
        self.seen[patient.urgency] += 1
        self.longest = max(self.longest, len(self.heap))

    def call(self):
        return heapq.heappop(self.heap)[-1]

    def __len__(self):
        return len(self.heap)


class Clinic:
    def __init__(self, options):
        self.options = options
        self.dice = Dice(options["seed"])
        self.room = WaitingRoom()
        self.free = deque(f"doctor {n + 1}" for n in range(options["doctors"]))
        self.events = []
        self.serial = count()
        self.done = []
        self.work = defaultdict(int)

    def plan(self, minute, action, patient=None):
        heapq.heappush(self.events, Event(minute, next(self.serial), action, patient))

    def prepare(self):
        first, last = self.options["open"], self.options["close"]
        for number in range(self.options["patients"]):
            urgency = self.dice.urgency()
            patient = Patient(number, urgency, self.dice.moment(first, last), self.dice.minutes(20))
            self.plan(patient.arrival, self.arrive, patient)

    def arrive(self, minute, patient):
        patient.note(minute, "arrives")
        self.room.enter(patient)
        self.dispatch(minute)

    def dispatch(self, minute):
        while self.free and self.room:
            doctor = self.free.popleft()
            patient = self.room.call()
            patient.started = minute
            patient.note(minute, doctor)
            self.work[doctor] += patient.treatment
            self.plan(minute + patient.treatment, self.leave, (doctor, patient))

    def leave(self, minute, both):
        doctor, patient = both
        patient.finished = minute
        self.done.append(patient)
        self.free.append(doctor)
        self.dispatch(minute)

    def run(self):
        self.prepare()
        while self.events:
            event = heapq.heappop(self.events)
            if self.options["verbose"]:
                print(clock(event.minute), event.action.__name__, event.patient)
            event.action(event.minute, event.patient)


def summary(clinic):
    waits = [patient.waited for patient in clinic.done]
    classes = Counter(NAMES[bisect.bisect_left(LIMITS, wait)] for wait in waits)
    print("mean wait", round(statistics.mean(waits), 1), "median", statistics.median(waits))
    print("longest queue", clinic.room.longest, dict(clinic.room.seen))
    for name in NAMES:
        print(f"{name:12}{'*' * classes[name]}")
    for doctor, minutes in sorted(clinic.work.items()):
        print(doctor, clock(minutes))


def main(preset="normal"):
    given = {"verbose": "-v" in sys.argv}
    clinic = Clinic(ChainMap(given, PRESETS[preset], DEFAULTS))
    clinic.run()
    summary(clinic)


if __name__ == "__main__":
    main()
