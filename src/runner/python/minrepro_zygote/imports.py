"""Imports modules ahead of their script."""

import os
import sys

from .side_effects import Doings, Effects, notice_filters


def import_ahead(modules, environments, record):
    """Imports modules in order, each in the environment it was imported in.

    Returns the modules that complained of their importer: the script itself must import those.
    """
    import warnings

    warnings.filterwarnings("always", module=__package__ + "[.]")
    ours = warnings.filters[0]
    record.doings = doings = Doings()
    effects = Effects()
    for name, moment in modules:
        if name in sys.modules:
            continue
        if moment != record.moment:
            record.moment = moment
            doings.enter(environments[moment])
        record.roots.append(name)
        try:
            __import__(name)
        except BaseException:
            # The script's own import will fail with it.
            pass
        doings.collect(name)
        effects.collect(name)
    doings.stop()
    environments[:] = map(doings.as_here, environments)
    warnings.filters.remove(ours)
    notice_filters()
    record.effects = effects.undone()
    return [owner for owner, _, text in doings.events if os.path.dirname(__file__) in text]


def keep_folders():
    """Leaves the temporary folders that imports made to whoever removes this process's own: runs may not, but would try."""
    modules = sys.modules
    if "tempfile" in modules and "weakref" in modules:
        cleanup = modules["tempfile"].TemporaryDirectory._cleanup.__func__
        registry = getattr(modules["weakref"].finalize, "_registry", {})
        for finalizer, known in list(registry.items()):
            if getattr(known.func, "__func__", None) is cleanup:
                del registry[finalizer]


def keep_operators():
    """Leaves the operators that PyTorch's imports registered to the end of the process, which takes less than to take back each
    of them; returns what would do so at the end of the script."""
    modules = sys.modules
    delete = getattr(modules.get("torch.library"), "_del_library", None)
    registry = getattr(getattr(modules.get("weakref"), "finalize", None), "_registry", {})
    kept = [finalizer for finalizer, known in registry.items() if known.atexit and known.func is delete]
    for finalizer in kept:
        finalizer.atexit = False
    # The last one registered is the first to go.
    return kept[::-1]
