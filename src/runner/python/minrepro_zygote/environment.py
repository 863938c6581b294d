"""The environment of a run and how it differs from another."""

import os

# Variables that differ from run to run.
OWN = ("TMPDIR", "TEMP", "TMP", "PWD")

# Variables that no import depends on: only an interpreter that starts reads the last one.
NO_MATTER = OWN + ("PYTHONHASHSEED",)


def environment():
    return {name: value for name, value in os.environ.items() if name not in NO_MATTER}


def set_environment(values):
    for name in [name for name in os.environ if name not in values and name not in NO_MATTER]:
        del os.environ[name]
    for name, value in values.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def changed(before, change):
    """The environment before, with variables set and, where they are None, removed."""
    values = dict(before, **change)
    return {name: value for name, value in values.items() if value is not None}


def difference(before, after):
    """The variables that were set and, as None, those that were removed."""
    changes = {name: value for name, value in after.items() if before.get(name) != value}
    changes.update((name, None) for name in before if name not in after)
    return changes
