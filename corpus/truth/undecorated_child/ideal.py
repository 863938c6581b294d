from dataclasses import dataclass


@dataclass
class Job:
    name: str


class Upload(Job):
    attempts: int = 2


Upload("", attempts=4)
