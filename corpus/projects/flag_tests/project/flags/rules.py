"""Whether a flag is on for someone."""
import zlib
from dataclasses import dataclass, field
from datetime import date
from typing import FrozenSet, Optional

__all__ = ["Flag", "User", "is_on"]

BUCKETS = 1000


@dataclass(frozen=True)
class User:
    name: str
    groups: FrozenSet[str] = frozenset()


@dataclass
class Flag:
    name: str
    enabled: bool = True
    share: float = 1.0
    groups: FrozenSet[str] = field(default_factory=frozenset)
    until: Optional[date] = None

    def __post_init__(self):
        if not 0 <= self.share <= 1:
            raise ValueError(f"the share of {self.name} is {self.share}")


def bucket(flag, user):
    """A number from 0 to 999 that stays the same for a user and a flag."""
    return zlib.crc32(f"{flag.name}:{user.name}".encode()) % BUCKETS


def is_on(flag, user, today=None):
    if flag.until is not None and (today or date.today()) > flag.until:
        return False
    if flag.groups & user.groups:
        return True
    return flag.enabled and bucket(flag, user) < flag.share * BUCKETS
