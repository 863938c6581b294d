# Finds the names of the parameters that may be given by position, for functions and classes that are
# named by their paths. Those that take any number of arguments are left out. Asked by the judge.

import inspect
import pydoc

POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def parameters(path):
    """The names of the parameters, or `None` if they are not known or not fixed."""
    try:
        found = inspect.signature(pydoc.locate(path)).parameters.values()
    except Exception:
        return None
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in found):
        return None
    return [parameter.name for parameter in found if parameter.kind in POSITIONAL]


known = {path: parameters(path) for path in question}
answer({path: names for path, names in known.items() if names})
