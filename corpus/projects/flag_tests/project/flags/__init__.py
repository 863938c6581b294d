"""Flags that switch features on and off, for all or for a share of the users."""
from .audit import Audit
from .rules import *
from .rules import __all__ as _rules
from .sources import Defaults, Environment, Source
from .store import Store

__all__ = ["Audit", "Defaults", "Environment", "Source", "Store", *_rules]
