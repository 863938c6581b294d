"""The frames of library code below the script's: their arguments and calls, as expressions."""

import sys

from .expressions import Stop
from .source import Source, is_path
from .writer import Writer

INSIDE = 12  # frames of foreign code, innermost first, that are looked at
PARTS = 6  # of their arguments that are written out
UNDER_WAY = 3  # of their calls that are


def given_to(tracer, frames):
    """The arguments of library functions as they are recorded, the innermost first: objects and rows that can be written.

    PyTorch's are left out: their calls say more.
    """
    writer = Writer(tracer)
    writer.keeps_leaves = True
    texts = {}
    for frame in frames[:INSIDE]:
        if is_of_torch(frame):
            continue
        code = frame.f_code
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            value = frame.f_locals.get(name)
            if value is not None and not isinstance(value, (bool, int, float, complex, type)) and not callable(value):
                noted = writer.recorded(value)
                if noted is not None:
                    texts.setdefault(noted["expression"], noted)
    return list(texts.values())[:PARTS]


def is_of_torch(frame):
    return str(frame.f_globals.get("__name__")).split(".")[0] == "torch"


def under_way(tracer, frames):
    """The calls of functions of PyTorch that others are meant to call, the innermost first, each as what is called and
    its arguments."""
    writer = Writer(tracer)
    writer.keeps_leaves = True
    calls = []
    for frame in frames[:INSIDE]:
        text = writer.attempt(lambda: call_of(writer, frame)) if is_of_torch(frame) else None
        if text is not None and text.split("\n") not in calls:
            calls.append(text.split("\n"))
    return calls[:UNDER_WAY]


def call_of(writer, frame):
    """The call that a frame is of."""
    import inspect

    code = frame.f_code
    name = code.co_name
    values = frame.f_locals
    is_check = str(frame.f_globals.get("__name__")).startswith("torch.testing")
    if code.co_flags & 0x0C or name.startswith("_") or is_check:
        raise Stop
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    owner = values.get("self") if names[:1] == ("self",) else None
    function = getattr(type(owner), name, None) if owner is not None else frame.f_globals.get(name)
    function = inspect.unwrap(function) if callable(function) else None
    if getattr(function, "__code__", None) is not code:
        raise Stop
    if owner is None:
        called = writer.named(function)
    else:
        is_model = name == "forward" and isinstance(owner, sys.modules["torch"].nn.Module)
        called = writer.write(owner) + ("" if is_model else "." + name)
    args, options = [], []
    for parameter in list(inspect.signature(function).parameters.values())[owner is not None :]:
        value = values[parameter.name]
        if value is parameter.default:
            continue
        if parameter.kind == parameter.KEYWORD_ONLY or len(args) + (owner is not None) < names.index(parameter.name):
            options.append((parameter.name, value))
        else:
            args.append(value)
    return written(writer, called, args, options)


def calls_on(tracer, frame, line):
    """The call in the statement on a line of PyTorch's that a frame is at, or else that of the frame."""
    import ast
    import linecache

    names = frame.f_globals
    source = Source("".join(linecache.getlines(frame.f_code.co_filename, names)).encode())
    call = next((node for node in source.nodes(line) if isinstance(node, ast.Call)), None)

    def value(node):
        if not is_path(node) and not isinstance(node, ast.Constant):
            raise Stop
        return eval(source.text(node), names, frame.f_locals)

    def write():
        if call is None or any(keyword.arg is None for keyword in call.keywords):
            raise Stop
        called = value(call.func)
        owner = getattr(called, "__self__", None)
        is_method = owner is not None and not isinstance(owner, type(sys))
        text = writer.write(owner) + "." + called.__name__ if is_method else writer.write(called)
        options = [(keyword.arg, value(keyword.value)) for keyword in call.keywords]
        return written(writer, text, [value(arg) for arg in call.args], options)

    writer = Writer(tracer)
    text = writer.attempt(write)
    return under_way(tracer, [frame]) if text is None else [text.split("\n")]


def written(writer, called, args, options):
    """A call as what is called and its arguments, in two lines; of tensors that `torch.vmap` has taken apart, as a call under
    it.
    """
    torch = sys.modules["torch"]
    own = getattr(torch._C, "_functorch", None)
    dims = []

    def whole(value):
        """A tensor without what functorch has put around it."""
        levels, dim = set(), None
        while isinstance(value, torch.Tensor) and hasattr(own, "is_functorch_wrapped_tensor"):
            if own.is_batchedtensor(value):
                levels.add(own.maybe_get_level(value))
                dim = own.maybe_get_bdim(value)
            elif not own.is_functorch_wrapped_tensor(value):
                break
            value = own.get_unwrapped(value)
        if len(levels) > 1:
            raise Stop
        dims.append(dim)
        return value

    args = [whole(value) for value in args]
    mapped = list(dims)
    options = [(name, whole(value)) for name, value in options]
    if any(dim is not None for dim in dims[len(args) :]):
        raise Stop
    if any(dim is not None for dim in mapped):
        every = "" if all(dim == 0 for dim in mapped) else ", " + writer.write(tuple(mapped))
        called = writer.write(torch) + ".vmap(" + called + every + ")"
    return called + "\n" + writer.arguments(args, options)
