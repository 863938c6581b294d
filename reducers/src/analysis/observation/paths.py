import atexit
import json
import os
import sys
import threading

lines = {}  # id of a code object -> the object, the package, and its lines that ran
local_traces = {}  # id of a code object -> the function that notes them, or None
aside = {}  # thread -> how many imports and finalizers are under way in it
outer = sys.gettrace()


def leaving(frame, event, argument):
    if event == "return":
        aside[threading.get_ident()] -= 1
    return leaving


def is_aside(frame):
    """Whether a call is an import, an observer's look at a value, or what the collector or the program's end runs."""
    code = frame.f_code
    if code.co_filename == is_aside.__code__.co_filename:
        # What stands for a function runs it.
        return code.co_name != "call"
    if code.co_name == "_find_and_load":
        return code.co_filename == "<frozen importlib._bootstrap>"
    if code.co_name == "__call__":
        return frame.f_globals.get("__name__") == "weakref"
    is_main = threading.get_ident() == threading.main_thread().ident
    at_end = frame.f_back is None and is_main and code.co_name != "<module>"
    return code.co_name == "__del__" or at_end


def noting(frame):
    code = frame.f_code
    package = frame.f_globals.get("__name__") or "__main__"
    # A text that is compiled has lines that depend on what it was made from.
    if package == "__main__" or code.co_filename.startswith("<") or code.co_name == "<module>":
        return None
    # Which lines of it run is decided by which thread comes first.
    if package == "threading":
        return None
    ran = set()
    lines[id(code)] = code, package.split(".")[0], ran

    def note(frame, event, argument):
        if event == "line":
            ran.add(frame.f_lineno)
        return note

    return note


def both(one, other):
    """Passes on to another tracer what this one notes."""

    def local(frame, event, argument):
        nonlocal other
        one(frame, event, argument)
        other = other and other(frame, event, argument)
        return local

    return local


def trace(frame, event, argument):
    other = outer and outer(frame, event, argument)
    code = frame.f_code
    thread = threading.get_ident()
    if is_aside(frame):
        aside[thread] = aside.get(thread, 0) + 1
        own = leaving
    elif aside.get(thread):
        return other
    elif id(code) in local_traces:
        own = local_traces[id(code)]
    else:
        own = local_traces[id(code)] = noting(frame)
    return both(own, other) if own and other else own or other


def end():
    sys.settrace(None)
    found = {}
    # Each run has a folder of its own.
    folder = os.path.dirname(os.path.abspath(getattr(sys.modules["__main__"], "__file__", ""))) + os.sep
    for code, package, ran in list(lines.values()):
        if ran:
            file = code.co_filename
            file = file[len(folder) :] if file.startswith(folder) else file
            functions = found.setdefault(package, {}).setdefault(file, {})
            first = code.co_firstlineno
            known = functions.setdefault(first, [])
            known += [line - first for line in sorted(ran) if line - first not in known]
    text = json.dumps(found, separators=(",", ":"))
    sys.__stderr__.write("%spaths%s%s%s\n" % (chr(30), chr(31), text, chr(30)))


atexit.register(end)
threading.settrace(trace)
sys.settrace(trace)
