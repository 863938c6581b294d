"""Attention with several heads."""
from . import registry
from .attention import Attention
from .config import HeadConfig
from .functional import *
from .functional import __all__ as _functions

__all__ = ["Attention", "HeadConfig", "registry"] + _functions
