"""The sizes of a layer."""
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class HeadConfig:
    width: int
    heads: int = 1
    #: Heads that share keys and values, if not all have their own.
    shared: Optional[int] = None
    dropout: float = 0.0
    scores: str = "scaled"

    def __post_init__(self):
        if self.width % self.heads:
            raise ValueError(f"a width of {self.width} cannot be split into {self.heads}")

    @property
    def head_width(self):
        return self.width // self.heads

    @property
    def groups(self):
        return self.heads // (self.shared or 1)
