"""People, shifts, and who works when."""
from .constants import DAYS, HOURS
from .people import *
from .shifts import *
from .planning import plan

__all__ = people.__all__ + shifts.__all__ + ["DAYS", "HOURS", "plan"]
