"""A kind of job that does not take its own field."""

from dataclasses import dataclass, field


@dataclass
class Job:
    name: str
    labels: list = field(default_factory=list)

    def run(self):
        return f"{self.name}: {', '.join(self.labels) or 'no labels'}"


class Upload(Job):
    attempts: int = 2

    def run(self):
        return f"{super().run()}, {self.attempts} attempts"


@dataclass
class Resize(Job):
    width: int = 640


jobs = [Job("tidy"), Resize("thumb", width=80)]
for job in jobs:
    print(job.run())
print(Upload("photos", ["daily"], attempts=4).run())
