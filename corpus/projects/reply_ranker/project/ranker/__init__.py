"""A small model that ranks replies."""
from .config import ModelConfig
from .model import ReplyRanker, build
from .evaluation import evaluate

__all__ = ["ModelConfig", "ReplyRanker", "build", "evaluate"]
__version__ = "0.4.0"
