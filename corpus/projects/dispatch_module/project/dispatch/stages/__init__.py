"""The stages, by their names."""
from . import load, report, route

_MODULES = (load, route, report)
STAGES = {module.__name__.rpartition(".")[2]: module for module in _MODULES}
