"""Keeps PyTorch's compiler from looking into the tracer."""

import sys

OWN_MODULES = []  # the tracer's, which are not in `sys.modules` while a script runs
own_code = {}  # by id, the code of all their functions


def let_alone():
    """Keeps PyTorch's compiler from the tracer: it compiles whatever is called while compiled code runs. Returns whether
    this version can be kept from it.
    """
    own = getattr(getattr(getattr(sys.modules["torch"], "_C", None), "_dynamo", None), "eval_frame", None)
    if hasattr(own, "set_code_exec_strategy"):
        skip = own._FrameAction.SKIP
        strategy = own._FrameExecStrategy(skip, skip)

        def leave(code):
            own.set_code_exec_strategy(code, strategy)

    elif hasattr(own, "skip_code"):
        leave = own.skip_code
    else:
        return False
    if not own_code:
        for module in OWN_MODULES:
            for code in codes_of(module):
                own_code[id(code)] = code
    for code in own_code.values():
        leave(code)
    return True


def codes_of(holder):
    """The code of all functions of ours in a module or class, with those defined within them."""
    package = __name__.partition(".")[0]
    for value in vars(holder).values():
        if str(getattr(value, "__module__", "")).partition(".")[0] == package:
            if isinstance(value, type):
                yield from codes_of(value)
            elif hasattr(value, "__code__"):
                yield from with_inner(value.__code__)


def with_inner(code):
    yield code
    for inner in code.co_consts:
        if isinstance(inner, type(code)):
            yield from with_inner(inner)
