"""Imports modules of this folder and hides them: a script finds nothing of them in `sys.modules`, on `sys.path` or in what
imports remember.
"""

import sys

FOLDER = __file__.rpartition("/")[0]


def load(name):
    """A module of this folder, which is on the search path until now."""
    writes_bytecode = sys.dont_write_bytecode
    # The folder belongs to the session, not to this process.
    sys.dont_write_bytecode = True
    try:
        module = __import__(name, fromlist=("",))
    finally:
        sys.dont_write_bytecode = writes_bytecode
    sys.path.remove(FOLDER)
    for folder in [each for each in sys.path_importer_cache if each.startswith(FOLDER)]:
        del sys.path_importer_cache[folder]
    for own in [each for each in sys.modules if each.startswith("minrepro_")]:
        del sys.modules[own]
    return module
