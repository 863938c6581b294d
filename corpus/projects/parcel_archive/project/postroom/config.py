"""Depots and their settings, from the file `depots.json` of this package."""
import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional

from .compat import cached

log = logging.getLogger(__name__)

#: Parcels in one archive, at most.
LIMIT = 500
#: Levels of compression that the archive's readers accept.
LEVELS = range(1, 10)
DATA = Path(__file__).with_name("depots.json")


class DepotError(LookupError):
    """There is no such depot."""


@dataclass(frozen=True)
class Gate:
    name: str
    kind: str = "belt"
    tolerance: float = 0.01

    @property
    def is_manual(self) -> bool:
        return self.kind == "hand"


@dataclass(frozen=True)
class Depot:
    name: str
    title: str
    level: int = 6
    gates: List[Gate] = field(default_factory=list)
    retention: Optional[int] = None

    def gate(self, name: str) -> Gate:
        for gate in self.gates:
            if gate.name == name:
                return gate
        log.debug("%s has no gate %s", self.name, name)
        return Gate(name)

    def level_or(self, level: Optional[int]) -> int:
        """The level of compression, unless another one is given."""
        if level is None:
            return self.level
        if level not in LEVELS:
            raise ValueError(f"the level {level} is not in {LEVELS}")
        return level


def _gate(text: str) -> Gate:
    name, _, kind = text.partition(":")
    return Gate(name, kind or "belt", 0.0 if kind == "hand" else 0.01)


@cached
def depots() -> Dict[str, Depot]:
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    common = raw.get("common", {})
    found = {}
    for name, entry in raw["depots"].items():
        merged = {**common, **entry}
        merged["gates"] = [_gate(text) for text in merged.get("gates", ())]
        found[name] = Depot(name, **merged)
    return found


def depot_named(name: str) -> Depot:
    try:
        return depots()[name.lower()]
    except KeyError:
        known = ", ".join(sorted(depots()))
        raise DepotError(f"no depot {name!r}, only {known}") from None
