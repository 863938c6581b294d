"""The layers of the models."""
from .attention import *
from .blocks import Block, FeedForward
from .pooling import MeanPool, Truncate

__all__ = attention.__all__ + ["Block", "FeedForward", "MeanPool", "Truncate"]
