"""The sizes of a model, and what they imply."""
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class ModelConfig:
    width: int = 64
    heads: int = 4
    layers: int = 2
    replies: int = 10
    #: Tokens of a question that the model looks at.
    longest: int = 16
    dropout: float = 0.1
    activation: str = "gelu"
    extras: dict = field(default_factory=dict, compare=False)

    def __post_init__(self):
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    def smaller(self, factor: int) -> "ModelConfig":
        return replace(self, width=self.width // factor, layers=max(1, self.layers // factor))
