"""Samples a ramp until it has reached its end, and never comes back for some ends."""
import math


class Ramp:
    def __init__(self, step, gain=1.0):
        self.step = step
        self.gain = gain
        self.seen = []

    def value(self, at):
        return self.gain * math.sqrt(at)

    def run(self, end):
        at = 0.0
        while at != end:
            if len(self.seen) < 50:
                self.seen.append(self.value(at))
            at += self.step
        return max(self.seen)


ramp = Ramp(0.1, gain=2.0)
runs = 0
for end in (0.5, 1.0):
    runs += 1
    print("%d: highest up to %.1f: %.3f" % (runs, end, ramp.run(end)))
