from dataclasses import dataclass


@dataclass
class Job:
    name: str


Job("", attempts=4)
