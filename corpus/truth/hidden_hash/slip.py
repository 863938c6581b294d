from dataclasses import dataclass


@dataclass
class Wheel:
    pass


hash(Wheel())
