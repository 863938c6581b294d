"""Plans the tours of a depot."""
import logging

from .context import current, tour_limit
from .errors import DispatchError, PlanError

__all__ = ["DispatchError", "PlanError", "current", "tour_limit", "version"]

logging.getLogger(__name__).addHandler(logging.NullHandler())


def version():
    return "1.9.2"
