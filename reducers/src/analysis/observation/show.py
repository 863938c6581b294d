import builtins
import collections.abc
import gc
import io
import itertools
import json
import numbers
import os
import re
import stat
import sys
import traceback
import unicodedata
import weakref
import zlib

MOST = 300
CALLS = 10 * MOST
PLAIN = ("builtins", "datetime", "decimal", "fractions")
GATHERED = (int, float, str, bytes, list, tuple, dict, set, frozenset)
COMPARING = ("allclose", "array_equal", "equal", "isclose")
HANDED_OUT = (range, type({}.keys()), type({}.values()), type({}.items()))
calls = {}
counts = {}
known = set()
seen = {}
kept_in = set()  # the containers in which something is stored, and the keys, as they are written
storing = []  # what something is about to be stored in
used = {}  # the iterators from which something may have been taken, by their places
holders = []  # what a key was last looked up in
stored = []  # references to the objects under which something is stored in a container


def say(place, text):
    sys.__stderr__.write("%s%s%s%s%s\n" % (chr(30), place, chr(31), text, chr(30)))


def array(value):
    size = value.numel() if hasattr(value, "numel") else value.size
    found = str(value.tolist()) if size <= 64 else ""
    odd = [word for word in ("nan", "inf") if word in found]
    found = re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", lambda each: "%.4g" % float(each[0]), found)
    shape = str(tuple(getattr(value, "shape", ())))
    return "".join(" with " + word for word in odd) + chr(29) + found + chr(29) + shape


def whole(value):
    """A plain value as it is; of others the type, whether an array holds `nan` or `inf`, the
    numbers of a small one, and its shape."""
    kind = type(value)
    text = ascii(value)[:200] if kind.__module__ in PLAIN else kind.__name__
    if kind.__module__ not in PLAIN or " at 0x" in text:
        text = kind.__name__
        try:
            text += array(value)
        except Exception:
            pass
    return text


def number(value):
    kind = "int" if isinstance(value, numbers.Integral) else "number"
    size = "zero" if value == 0 else "finite" if value - value == 0 else "odd"
    return size + " " + kind


def foreign(value):
    # A class of the program's own may lose everything but what it gets from packages.
    names = [base.__name__ for base in type(value).__mro__ if base.__module__ != "__main__"]
    return names[0]


def parameters(function):
    code = getattr(function, "__code__", None)
    return code and "%d %d %d" % (code.co_argcount, code.co_kwonlyargcount, code.co_flags & 12)


def of_function(value):
    """The name of a package's function; of the program's own functions the parameters."""
    module = getattr(value, "__module__", None) or ""
    return "own " + str(parameters(value)) if module == "__main__" else module + "." + value.__name__


def of_class(value):
    """The name of a package's class; of the program's own classes also what a package asks for."""
    if value.__module__ != "__main__":
        return value.__module__ + "." + value.__qualname__
    own = [each for each in value.__mro__ + type(value).__mro__ if each.__module__ == "__main__"]
    asked = {name: parameters(each) for of in own for name, each in vars(of).items() if name.startswith("__")}
    asked = ["%s %s" % each for each in sorted(asked.items()) if each[1]]
    return ", ".join(["own " + value.__qualname__] + asked)


def short(text):
    return [text] if len(text) <= 200 else ["%s... %08x" % (text[:100], zlib.crc32(text.encode()))]


def holds_nothing(value):
    """Whether it is an object of a package that says that it is empty."""
    size = getattr(type(value), "__len__", None)
    if size is None or getattr(size, "__module__", None) == "__main__":
        return False
    try:
        return len(value) == 0
    except Exception:
        return False


def is_spent(value):
    """Whether it is a generator that has nothing left."""
    return isinstance(value, type(_ for _ in ())) and value.gi_frame is None


def unspent(found):
    """What a function has spent it may as well have got as a list."""
    return {name: iter(()) if is_spent(value) else value for name, value in found.items()}


def described(value, depth=4):
    """The kind of a value, with its text or parts if these are known."""
    kind = type(value)
    # A shape is a row of numbers.
    if isinstance(value, tuple) and not hasattr(kind, "_fields"):
        kind = tuple
    of_numpy = kind.__module__ == "numpy"
    if value is None:
        return ["None"]
    if isinstance(value, type):
        return ["class", of_class(value)]
    if kind is bool or of_numpy and kind.__name__.startswith("bool"):
        return ["bool", str(value)]
    if kind in (int, float, complex) or of_numpy and isinstance(value, numbers.Number):
        text = repr(value.item() if of_numpy else value)
        # A number that is not round may have been computed from others.
        return [number(value)] + short(text) * (kind is int or len(text) <= 8)
    if kind in (str, bytes):
        return [kind.__name__ + ", empty" * (not value)] + short(repr(value))
    if kind in (list, tuple, set, frozenset, dict):
        parts = [each for pair in value.items() for each in pair] if kind is dict else list(value)
        if kind in (set, frozenset):
            parts.sort(key=repr)
        name = kind.__name__ + ", empty" * (not parts)
        if len(parts) > MOST or not depth:
            return [name]
        return [name, [described(part, depth - 1) for part in parts]]
    if kind.__module__ == "builtins" and callable(value):
        return ["function", of_function(value)]
    if is_spent(value):
        return ["spent"]
    # Whatever is handed out one by one may be written out as a list.
    if hasattr(kind, "__next__") or kind in HANDED_OUT:
        return [""]
    name = foreign(value)
    if hasattr(kind, "dtype"):
        name += " of " + re.sub(r"\d+|torch\.|b(?=float)", "", str(value.dtype))
    if hasattr(kind, "shape"):
        shape = tuple(value.shape)
        name += " without dimensions" if not shape else ", empty" if 0 in shape else ""
        return [name, str(shape)]
    # What is awaited is a call that is under way.
    is_callable = callable(value) or hasattr(kind, "__await__")
    return [name + ", empty" * holds_nothing(value) + ", callable" * is_callable]


def given(function, arguments, named):
    """What a function gets, by position and name; the object of a method has none."""
    found = {str(place): value for place, value in enumerate(arguments)}
    found.update(named)
    holder = getattr(function, "__self__", None)
    if holder is not None and not isinstance(holder, (type, type(sys))):
        found[""] = holder
    return found


def of_language(function, found):
    """Whether it is a function or a method of the language's own, by what it gets."""
    of = owner(function, found)
    holder = getattr(function, "__self__", None)
    return holder is builtins or of.__module__ == "builtins" and ("" in found or of is function)


def owner(function, found):
    """The class that a function belongs to, or is."""
    return function if isinstance(function, type) else type(found.get("", function))


def received(name, function, arguments, named):
    found = given(function, arguments, named)
    of = owner(function, found)
    module = getattr(function, "__module__", None) or of.__module__ or ""
    is_own = isinstance(function, type) and module == "__main__"
    if is_own:
        # A package makes the objects of a class that derives from one of its own.
        foreign = [base.__module__ for base in function.__mro__ if base.__module__ != "__main__"]
        module = foreign[0]
    if ("package", name, module) not in known:
        known.add(("package", name, module))
        say("package " + name, module.split(".")[0])
    # What packages generate claims to be of the program's module.
    made_by = getattr(getattr(function, "__init__", None), "__code__", None)
    if is_own and made_by is not None and made_by.co_filename == sys._getframe(2).f_code.co_filename:
        return
    say_received("builtin " * of_language(function, found) + name, found)


def say_received(name, found, describe=described):
    """Writes down each of the first calls of a function once, or that there are more."""
    count = counts.get(name, 0)
    calls[name] = calls.get(name, 0) + 1
    if count > MOST or calls[name] > CALLS + 1:
        return
    text = json.dumps({place: describe(value) for place, value in found.items()}, sort_keys=True)
    is_over = calls[name] > CALLS
    if is_over or (name, text) not in known:
        known.add((name, text))
        counts[name] = count + 1
        say("received " + name, '{"*": [""]}' if is_over or count == MOST else text)


def of_package(value):
    """Whether it is an object of a class of a package."""
    return type(value).__module__ not in ("builtins", "__main__")


def called(value, arguments, named):
    """Writes down what an object gets that is called, whatever its name is."""
    found = {str(place): value for place, value in enumerate(arguments)}
    found.update(named)
    # Without arguments it may do something else.
    found["of"] = len(arguments)
    say_received("call of " + type(value).__name__, found)


def kind_alone(value):
    """The kind of a value that may be large, and is looked at often."""
    kind = type(value)
    if kind in (bool, int, float, str, bytes) or value is None:
        return described(value)[:1]
    if kind in (list, tuple, set, frozenset, dict):
        return [kind.__name__ + ", empty" * (not value)]
    return [foreign(value)]


def has_no_content(file):
    if isinstance(file, (io.BytesIO, io.StringIO)):
        return not file.getvalue()
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and not status.st_size


def oddities(value, depth=4):
    """What is odd about a value: a file without content, numbers that are negative, infinite or none."""
    if isinstance(value, io.IOBase):
        return {"no content"} if not value.closed and has_no_content(value) else set()
    if isinstance(value, numbers.Real):
        # What is no number equals nothing.
        odd = {"nan": value != value, "inf": abs(value) == float("inf"), "negative": value < 0}
        return {name for name, is_so in odd.items() if is_so}
    if hasattr(value, "tolist"):
        size = value.numel() if hasattr(value, "numel") else value.size
        value = value.tolist() if size <= CALLS else ()
    parts = list(value.values()) if isinstance(value, dict) else value
    if not depth or not isinstance(parts, (list, tuple)):
        return set()
    return set().union(*(oddities(part, depth - 1) for part in parts[:MOST]))


def say_failed(name, function, arguments, named, state):
    """Writes down what a call gets that fails, and what it may be that makes it fail."""
    try:
        found = unspent(given(function, arguments, named))
        if not of_language(function, found):
            say_received("failed " + name, found)
        state.update(dict.fromkeys(oddities(found), True))
    except Exception:
        pass
    say_received("state of " + name, state)


def seen_again(name, function, arguments):
    """Which of the objects of packages that a function gets it got before, by their places."""
    found = {}
    holder = getattr(function, "__self__", None)
    for place, value in enumerate((holder,) + arguments[:1]):
        try:
            reference = weakref.ref(value)
        except TypeError:
            continue
        if of_package(value) and not isinstance(value, (type, type(sys))):
            before = seen.setdefault((name, place), {})
            known = before.get(id(value))
            found[str(place)] = known is not None and known() is value
            before[id(value)] = reference
    return found


def flat(value):
    """The numbers of a number or an array, and whether they are in double precision."""
    dtype = getattr(value, "dtype", type(value).__name__)
    value = value.tolist() if hasattr(value, "tolist") else value
    found = []
    open_parts = [value]
    while open_parts and len(found) < CALLS:
        part = open_parts.pop()
        if isinstance(part, (list, tuple)):
            open_parts.extend(part)
        else:
            found.append(part)
    return found, str(dtype).endswith(("float", "float64", "complex128"))


def say_apart(one, other):
    """Writes down how far numbers are apart that a comparison does not find close."""
    (ones, is_double), (others, is_other_double) = flat(one), flat(other)
    if len(ones) != len(others):
        return
    absolute = max(abs(a - b) for a, b in zip(ones, others))
    relative = max(abs(a - b) / (abs(b) or abs(a) or 1) for a, b in zip(ones, others))
    text = "Absolute difference: %r\nRelative difference: %r" % (absolute, relative)
    say("apart", "double " * (is_double and is_other_double) + text)


def watched(name, function):
    if not name and not of_package(function):
        return function
    observed = getattr(function, "_minrepro_of", function)

    def call(*arguments, **named):
        state = {}
        try:
            if name:
                received(name, observed, arguments, named)
                state = seen_again(name, observed, arguments)
            if of_package(function):
                called(function, arguments, named)
        except Exception:
            pass
        try:
            result = function(*arguments, **named)
        except Exception:
            if name:
                say_failed(name, observed, arguments, named, state)
            raise
        if name:
            for value in arguments:
                is_file = isinstance(value, io.IOBase)
                if not is_file and is_used(value) and type(result) in GATHERED and not result:
                    say("used up", name)
        if name in COMPARING and result is False:
            try:
                say_apart(*arguments[:2])
            except Exception:
                pass
        return result

    return call


def is_used(value):
    """Whether a value is an iterator that is used again."""
    if not hasattr(type(value), "__next__") or len(used) > CALLS:
        return False
    is_known = id(value) in used and used[id(value)]() is value
    try:
        used[id(value)] = weakref.ref(value)
    except TypeError:
        # The language's own hold nothing that would have to be closed.
        used[id(value)] = lambda: value
    return is_known


def turns(value):
    """The turns of a loop, which writes down if there are none since an iterator is used up."""
    if not is_used(value):
        return value
    taken = []
    counting = iter(lambda: taken.append(None) is None, None)

    def end():
        if not taken:
            say("used up", "for")
        yield from ()

    # An exception passes through none of this.
    return itertools.chain(itertools.compress(value, counting), end())


class Tee:
    """A stream that also keeps what is written to it."""

    def __init__(self, stream, texts):
        self.stream = stream
        self.texts = texts

    def write(self, text):
        self.texts.append(str(text))
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


def printing(name, function):
    def call(*arguments, **named):
        calls[name] = calls.get(name, 0) + 1
        if calls[name] > CALLS:
            return function(*arguments, **named)
        texts = []
        streams = sys.stdout, sys.stderr
        # What a function prints that this call leads to, is printed there.
        tees = [Tee(stream.stream if isinstance(stream, Tee) else stream, texts) for stream in streams]
        if named.get("file") in streams:
            named["file"] = tees[streams.index(named["file"])]
        sys.stdout, sys.stderr = tees
        try:
            return function(*arguments, **named)
        finally:
            sys.stdout, sys.stderr = streams
            # A stream that writes by itself.
            if getattr(function, "__self__", None) in streams:
                texts.extend(arguments)
            if texts:
                say(name, "".join(map(str, texts)))

    call._minrepro_of = function
    return call


def show(what, name="", value=None):
    if what == "call":
        return watched(name, value)
    if what == "printing":
        return printing(name, value)
    if what == "value":
        say(name, whole(value))
    elif what in ("operand", "index"):
        found = {"0": value}
        if what == "index" and type(value) is tuple:
            # An index of fewer parts selects more.
            found = {str(place): part for place, part in enumerate(value)}
            found["of"] = len(value)
        try:
            say_received(name, found)
            # What cannot be referred to is known by how it is written. Nothing is kept alive.
            if name == "[]=" and len(stored) < CALLS:
                kept_in.update((id(each), repr(value)) for each in storing)
                stored.append(weakref.ref(value))
        except Exception:
            pass
    elif name == "of []=":
        storing[:] = [value]
    elif what == "kind":
        if name == "of []":
            holders[:] = [value]
        try:
            say_received(name, {"0": value}, kind_alone)
        except Exception:
            pass
    elif what == "turns":
        return turns(value)
    elif what == "caught":
        say("caught", traceback.format_exc())
    else:
        say(name, what)
    return value


def makes_class(found):
    """Whether it is the language that calls a function with these arguments, for a class statement."""
    first = next(iter(found.values()), None)
    return isinstance(first, type) and issubclass(first, type)


def left_out(code):
    """What the parameters of a function have that a call leaves out."""
    # What was there before a warm run began is frozen, and would not be found.
    gc.unfreeze()
    for function in gc.get_referrers(code):
        if isinstance(function, type(show)):
            count = code.co_argcount
            values = function.__defaults__ or ()
            found = dict(zip(code.co_varnames[count - len(values) : count], values))
            found.update(function.__kwdefaults__ or {})
            return found
    return {}


def given_of(found, of_itself):
    """Those of a function's parameters that the call gives it, by the values that it has for the others.
    Where that is None, the function makes its own container."""
    given = {}
    for name, value in found.items():
        default = of_itself.get(name, found)
        is_made = default is None and type(value) in (dict, list, set)
        if value is not default and not is_made:
            given[name] = value
    return given


def nearness(key, other):
    """In what another key is like one that is missing, if it is."""
    texts = [str(each) for each in (key, other)]
    if texts[0] == texts[1]:
        return "type" if type(key) is not type(other) else None
    if key in names_of(other) or other in names_of(key):
        return "name"
    if number_of(key) is not None and number_of(key) == number_of(other):
        return "number"
    if not all(isinstance(each, (str, bytes)) for each in (key, other)):
        return None
    normal = [unicodedata.normalize("NFKC", text) for text in texts]
    if normal[0] == normal[1]:
        return "form"
    if texts[0].strip() == texts[1].strip():
        return "space"
    if texts[0].casefold() == texts[1].casefold():
        return "case"
    short, long = sorted(texts, key=len)
    return "part" if len(short) > 1 and (long.startswith(short) or long.endswith(short)) else None


def number_of(key):
    """The number that a key is or says."""
    try:
        return float(key) if isinstance(key, (str, bytes, int, float)) else None
    except (ValueError, OverflowError):
        return None


def names_of(key):
    """What a class or a member of an enumeration is called, and the value of such a member."""
    if isinstance(key, type):
        return [key.__name__]
    is_member = hasattr(type(key), "__members__")
    return [key.name, key.value] if is_member else []


def near_keys(trace, key):
    """In what the keys of dictionaries are like a missing one, where it is looked up."""
    found = set()
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    own = [at for at, frame in enumerate(frames) if frame.f_globals.get("__name__") == "__main__"]
    values = holders[-1:]
    for frame in frames[own[-1] :] if own else ():
        values += frame.f_locals.values()
        values += [frame.f_globals.get(name) for name in frame.f_code.co_names]
    objects = [value for value in values if hasattr(value, "__dict__") and not isinstance(value, (type, type(sys)))]
    for value in values + [each for value in objects for each in vars(value).values()]:
        if isinstance(value, collections.abc.Mapping) and len(value) <= MOST:
            keys = dict.keys(value) if isinstance(value, dict) else value
            if (id(value), repr(key)) in kept_in and key not in keys:
                found.add("kept")
            found.update(nearness(key, other) for other in keys)
    return found - {None}


def failed(kind, error, trace, report=sys.excepthook):
    """Writes down what the functions of packages got that an exception leaves, and which of them the
    program itself entered; whether something was stored under the very key that is missing, or
    under one like it."""
    here = sys._getframe().f_code.co_filename
    own = None
    kept = [key for key in (each() for each in stored) if key is not None]
    if kind is KeyError and any(key is each for key in error.args for each in kept):
        say_received("lost key", {})
    try:
        if kind is KeyError and len(error.args) == 1:
            say("near keys", json.dumps(sorted(near_keys(trace, error.args[0]))))
        for frame, _ in traceback.walk_tb(trace):
            code = frame.f_code
            module = frame.f_globals.get("__name__", "")
            if module == "__main__":
                own = True
            elif own is not None and code.co_filename != here:
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                found = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
                found = unspent(found)
                name = "%s.%s" % (module, code.co_name)
                say_received("left " + name, found)
                if own and not makes_class(found):
                    of_itself = left_out(code)
                    say_received("entered " + name, given_of(found, of_itself))
                own = False
    except Exception:
        pass
    report(kind, error, trace)


sys.excepthook = failed
builtins._minrepro_show = show
