"""Counts how often the parts of a machine were serviced."""

import itertools
from dataclasses import dataclass

numbers = itertools.count(1)


class Part:
    def __init__(self):
        self.number = next(numbers)

    def __eq__(self, other):
        return isinstance(other, Part) and self.number == other.number

    def __hash__(self):
        return hash(self.number)


class Belt(Part):
    pass


@dataclass
class Wheel(Part):
    teeth: int

    def __post_init__(self):
        super().__init__()


serviced = {Belt(): 3}
print(sorted(serviced.values()))
for wheel in [Wheel(12), Wheel(36)]:
    serviced[wheel] = serviced.get(wheel, 0) + 1
print(len(serviced))
