"""Plans, from the file `plans.json`."""
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import List

from .errors import PlanError

PLANS = Path("plans.json")


@dataclass
class Plan:
    name: str
    depot: str
    stages: List[str] = field(default_factory=list)
    speed: float = 50.0

    def hours(self, km):
        return km / self.speed


def plan_named(name, path=PLANS):
    with path.open(encoding="utf-8") as file:
        raw = json.load(file)
    if name not in raw:
        raise PlanError(name, f"no plan has this name, only {', '.join(sorted(raw))}")
    return Plan(name, **raw[name])


def names(path=PLANS):
    return sorted(json.loads(path.read_text(encoding="utf-8")))
