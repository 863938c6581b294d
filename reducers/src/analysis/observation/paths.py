import atexit
import itertools
import json
import os
import sys
import threading

lines = {}  # id of a code object -> the object, the package, and its lines that ran, each with its turn
turns = itertools.count()
raised = {}  # id of an exception -> the turn at which the program had it first
failures = []  # the turn at which the program had the exception that ends it
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


def package_of(frame):
    return frame.f_globals.get("__name__") or "__main__"


def watch(frame, event, argument):
    """Notes when the program itself has an exception first."""
    if event == "exception":
        kind, error, trace = argument
        # What an iterator of the language raises may come without one.
        inner = trace and trace.tb_next
        while inner is not None and package_of(inner.tb_frame) != "__main__":
            inner = inner.tb_next
        if inner is None:
            raised[id(error)] = next(turns)
    return watch


def fail(kind, error, trace, report=sys.excepthook):
    """Notes which exception ends the program."""
    failures.append(raised.get(id(error)))
    report(kind, error, trace)


def watch_running(frame):
    """Watches the frames that the program is in already; a tracer is asked about new ones only."""
    while frame is not None:
        is_own = frame.f_code.co_filename == is_aside.__code__.co_filename
        if package_of(frame) == "__main__" and not is_own:
            if frame.f_trace:
                frame.f_trace = both(watch, frame.f_trace)
            else:
                frame.f_trace = watch
                frame.f_trace_lines = False
        frame = frame.f_back


def noting(frame):
    code = frame.f_code
    package = package_of(frame)
    if package == "__main__":
        return watch
    # A text that is compiled has lines that depend on what it was made from.
    if code.co_filename.startswith("<") or code.co_name == "<module>":
        return None
    # Which lines of it run is decided by which thread comes first.
    if package == "threading":
        return None
    ran = {}
    lines[id(code)] = code, package.split(".")[0], ran

    def note(frame, event, argument):
        if event == "line" and frame.f_lineno not in ran:
            ran[frame.f_lineno] = next(turns)
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
    if own is watch and not other:
        frame.f_trace_lines = False
    return both(own, other) if own and other else own or other


def end():
    sys.settrace(None)
    found = {}
    # What runs once the program has failed is not why it does.
    failure = failures[-1] if failures else None
    # Each run has a folder of its own.
    folder = os.path.dirname(os.path.abspath(getattr(sys.modules["__main__"], "__file__", ""))) + os.sep
    for code, package, ran in list(lines.values()):
        ran = [line for line in sorted(ran) if failure is None or ran[line] < failure]
        if ran:
            file = code.co_filename
            file = file[len(folder) :] if file.startswith(folder) else file
            functions = found.setdefault(package, {}).setdefault(file, {})
            first = code.co_firstlineno
            known = functions.setdefault(first, [])
            known += [line - first for line in ran if line - first not in known]
    text = json.dumps(found, separators=(",", ":"))
    sys.__stderr__.write("%spaths%s%s%s\n" % (chr(30), chr(31), text, chr(30)))


atexit.register(end)
sys.excepthook = fail
threading.settrace(trace)
sys.settrace(trace)
watch_running(sys._getframe())
