"""Runs a script as __main__ and writes down what it did: which lines ran, where it failed, with which values.

Called as `python trace.py OUT SCRIPT ARGS...`; OUT gets one JSON object. Needs CPython 3.8 or later. What the script
prints and how it ends stays as it is.
"""

import sys

LINES = 20_000  # line events of one code object that are counted before it is left alone
RAISED = 500  # exceptions that are remembered
CALLS = 200  # calls of one function whose values are looked at
NODES = 500  # parts of a value that is written out
TEXT = 4_000  # characters of a value that is written out


class Stop(Exception):
    """A value that can not be written as an expression."""


class Enough(Exception):
    """A value that is too large to be written."""


class Writer:
    """Values as Python expressions: literals, the script's own names, and calls of its classes."""

    def __init__(self, namespace, made):
        self.namespace = namespace
        self.made = made
        self.names = {}
        for name, value in namespace.items():
            if not (name.startswith("__") and name.endswith("__")):
                self.names.setdefault(id(value), name)

    def text(self, value):
        """The expression, or None."""
        self.left = NODES
        self.seen = set()
        try:
            text = self.write(value)
        except Exception:
            return None
        return text if len(text) <= TEXT else None

    def write(self, value):
        self.left -= 1
        if self.left < 0:
            raise Enough
        kind = type(value)
        if value is None or value is ... or kind in (bool, int, str, bytes):
            text = repr(value)
            if len(text) > TEXT:
                raise Stop
            return text
        if kind is float or kind is complex:
            text = repr(value)
            return 'float("%s")' % text if text in ("inf", "-inf", "nan") else text
        if isinstance(value, type) or callable(value) or kind is type(sys):
            return self.named(value)
        if id(value) in self.seen:
            raise Stop
        self.seen.add(id(value))
        try:
            return self.compound(kind, value)
        finally:
            self.seen.discard(id(value))

    def compound(self, kind, value):
        if kind is list:
            return "[" + ", ".join(self.parts((item,) for item in value)) + "]"
        if kind is tuple:
            return "(" + self.row(value) + ("," if len(value) == 1 else "") + ")"
        if kind is set:
            parts = sorted(self.parts((item,) for item in value))
            return "{" + ", ".join(parts) + "}" if parts else "set()"
        if kind is frozenset:
            return "frozenset(" + (self.write(set(value)) if value else "") + ")"
        if kind is dict:
            return "{" + ", ".join(self.parts(value.items())) + "}"
        if kind is bytearray:
            return "bytearray(" + self.write(bytes(value)) + ")"
        if kind is range:
            return repr(value)
        if kind.__name__ in ("generator", "coroutine"):
            return self.suspended(value)
        return self.instance(kind, value)

    def parts(self, items):
        """The elements of a container; those that can not be written are left out, and a run will tell.

        Tuples are no containers: each of their places has a meaning.
        """
        written = []
        for item in items:
            try:
                written.append(": ".join(map(self.write, item)))
            except Stop:
                pass
        return written

    def row(self, values):
        return ", ".join(map(self.write, values))

    def named(self, value):
        """A class, function or module by a name that the script has for it."""
        name = self.names.get(id(value))
        if name is not None:
            return name
        owner = getattr(value, "__self__", None)
        name = getattr(value, "__name__", None)
        if isinstance(name, str) and name.isidentifier():
            import builtins

            if getattr(builtins, name, None) is value and name not in self.namespace:
                return name
            if owner is not None and not isinstance(owner, type(sys)):
                if getattr(owner, name, None) == value:
                    return self.write(owner) + "." + name
            module = sys.modules.get(getattr(value, "__module__", None) or "")
            if module is not None and getattr(module, name, None) is value and id(module) in self.names:
                return self.names[id(module)] + "." + name
        raise Stop

    def suspended(self, value):
        """A generator or coroutine of the script: its call."""
        frame = getattr(value, "gi_frame", None) or getattr(value, "cr_frame", None)
        code = getattr(value, "gi_code", None) or getattr(value, "cr_code", None)
        function = self.namespace.get(code.co_name)
        if frame is None or getattr(function, "__code__", None) is not code:
            raise Stop
        if code.co_flags & 0x0C or code.co_kwonlyargcount:
            raise Stop
        names = code.co_varnames[: code.co_argcount]
        return code.co_name + "(" + ", ".join(self.write(frame.f_locals[name]) for name in names) + ")"

    def instance(self, kind, value):
        made = self.made.get(id(value))
        if made is not None and made[0] is value:
            self.named(kind)
            return self.named(kind) + "(" + self.arguments(made[1], made[2]) + ")"
        fields = getattr(kind, "__dataclass_fields__", None)
        if fields is not None:
            parts = [(n, getattr(value, n)) for n, f in fields.items() if f.init]
            return self.named(kind) + "(" + ", ".join(n + "=" + self.write(v) for n, v in parts) + ")"
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self.named(kind) + "(" + self.row(value) + ")"
        enum = sys.modules.get("enum")
        if enum is not None and isinstance(value, enum.Enum):
            return self.named(kind) + "." + value.name
        if isinstance(value, BaseException):
            return self.named(kind) + "(" + self.row(value.args) + ")"
        if kind.__module__ == "__main__":
            import inspect

            # It may have been made with arguments all the same; a run will tell.
            for parameter in inspect.signature(kind).parameters.values():
                if parameter.default is parameter.empty and parameter.kind not in (2, 4):
                    raise Stop
            return self.named(kind) + "()"
        return self.library(kind, value)

    def library(self, kind, value):
        """A value of a library whose repr is an expression in the script's names."""
        names = getattr(sys, "stdlib_module_names", None)
        if names is not None and kind.__module__.split(".")[0] not in names:
            raise Stop
        text = repr(value)
        if len(text) > TEXT or "(" not in text or "<" in text or "__main__" in text:
            raise Stop
        head = text.split("(")[0]
        if not all(part.isidentifier() for part in head.split(".")):
            raise Stop
        own = self.named(kind)
        text = own + text[len(head):] if head.split(".")[-1] == kind.__name__ else text
        again = eval(text, dict(self.namespace))
        if type(again) is not kind or repr(again) != repr(value):
            raise Stop
        return text

    def arguments(self, args, kwargs):
        parts = [self.write(value) for value in args]
        parts += [name + "=" + self.write(value) for name, value in kwargs]
        return ", ".join(parts)


class Tracer:
    def __init__(self, script):
        self.script = script
        self.hits = {}  # line -> times
        self.entered = {}  # first line of a function -> calls
        self.varying = set()  # first lines of functions that did not always return the same
        self.returned = {}  # first line of a function -> its last value as an expression, or None
        self.made = {}  # id -> (object, args, kwargs) of constructions
        self.raised = {}  # id -> (exception, what had been returned when it was raised)
        self.failure = []
        self.causes = []
        self.namespace = {}

    def line(self, code, line):
        count = self.hits.get(line, 0) + 1
        self.hits[line] = count
        return count < LINES

    def call(self, frame):
        code = frame.f_code
        first = code.co_firstlineno
        count = self.entered.get(first, 0) + 1
        self.entered[first] = count
        if code.co_name == "__init__" and code.co_argcount and len(self.made) < 5_000:
            self.construction(frame)

    def construction(self, frame):
        code = frame.f_code
        if code.co_flags & 0x0C:
            return
        values = frame.f_locals
        names = code.co_varnames[: code.co_argcount]
        rest = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        if not all(name in values for name in names + rest):
            return
        made = values[names[0]]
        # An outer __init__ calls those of the bases for the same object.
        if id(made) in self.made and self.made[id(made)][0] is made:
            return
        if type(made).__init__.__code__ is not code:
            return
        args = [values[name] for name in names[1:]]
        defaults = type(made).__init__.__defaults__ or ()
        while args and len(args) > len(names) - 1 - len(defaults) and args[-1] is defaults[len(args) - len(names)]:
            args.pop()
        kwdefaults = type(made).__init__.__kwdefaults__ or {}
        kwargs = [(n, values[n]) for n in rest if not (n in kwdefaults and kwdefaults[n] is values[n])]
        self.made[id(made)] = (made, args, kwargs)

    def leave(self, code, value):
        first = code.co_firstlineno
        before = self.returned.get(first)
        self.returned[first] = None
        # Generators and coroutines return otherwise.
        if not code.co_flags & 0x2A0 and self.entered.get(first, 0) <= CALLS:
            self.returned[first] = Writer(self.namespace, self.made).text(value)
            if self.entered.get(first, 0) > 1 and self.returned[first] != before:
                self.varying.add(first)

    def raise_(self, error):
        if id(error) not in self.raised and len(self.raised) < RAISED:
            self.raised[id(error)] = (error, dict(self.returned))

    def is_own(self, code):
        return code.co_filename == self.script

    def start_monitoring(self):
        """sys.monitoring, from CPython 3.12 on."""
        own = sys.monitoring
        events = own.events
        tool = 4
        own.use_tool_id(tool, "minrepro")

        def on_start(code, offset):
            if not self.is_own(code):
                return own.DISABLE
            self.call(sys._getframe(1))

        def on_line(code, line):
            if not self.is_own(code) or not self.line(code, line):
                return own.DISABLE

        def on_return(code, offset, value):
            if not self.is_own(code):
                return own.DISABLE
            if code.co_name != "<module>":
                self.leave(code, value)

        own.register_callback(tool, events.PY_START, on_start)
        own.register_callback(tool, events.LINE, on_line)
        def on_raise(code, offset, error):
            # This event can not be switched off for single places.
            if self.is_own(code):
                self.raise_(error)

        own.register_callback(tool, events.PY_RETURN, on_return)
        own.register_callback(tool, events.RAISE, on_raise)
        own.set_events(tool, events.PY_START | events.LINE | events.PY_RETURN | events.RAISE)
        return lambda: own.free_tool_id(tool)

    def start_settrace(self):
        import threading

        def on_event(frame, event, arg):
            if event == "line":
                if not self.line(frame.f_code, frame.f_lineno):
                    frame.f_trace_lines = False
            elif event == "exception":
                self.raise_(arg[1])
            elif event == "return" and frame.f_code.co_name != "<module>" and arg is not None:
                self.leave(frame.f_code, arg)
            return on_event

        def on_call(frame, event, arg):
            if event != "call" or not self.is_own(frame.f_code):
                return None
            self.line(frame.f_code, frame.f_lineno)
            self.call(frame)
            return on_event

        sys.settrace(on_call)
        threading.settrace(on_call)
        return lambda: sys.settrace(None)

    def failed(self, error, traceback):
        """Notes the frames of a failure that are the script's, and of those that it came from."""
        self.failure = self.frames(traceback)
        seen = {id(error)}
        while True:
            known = self.raised.get(id(error))
            if known is not None and known[0] is error:
                self.returned = known[1]
            error = error.__cause__ or error.__context__
            if error is None or id(error) in seen:
                break
            seen.add(id(error))
            self.causes.append(self.frames(error.__traceback__))

    def frames(self, traceback):
        writer = Writer(self.namespace, self.made)
        frames = []
        while traceback is not None:
            frame = traceback.tb_frame
            code = frame.f_code
            if self.is_own(code):
                place = [traceback.tb_lineno, None, None, None]
                if hasattr(code, "co_positions") and traceback.tb_lasti >= 0:
                    for index, found in enumerate(code.co_positions()):
                        if index == traceback.tb_lasti // 2:
                            # From, to: line and column each.
                            place = [found[0], found[2], found[1], found[3]]
                            break
                values = {}
                if len(frames) < 40:
                    for name, value in list(frame.f_locals.items())[:200]:
                        text = writer.text(value)
                        if text is not None and name.isidentifier():
                            values[name] = text
                if place[0] is None:
                    place = [traceback.tb_lineno, None, None, None]
                frames.append({
                    "line": traceback.tb_lineno,
                    "place": place,
                    "function": code.co_name,
                    "first_line": code.co_firstlineno,
                    "values": values,
                })
            traceback = traceback.tb_next
        return frames

    def save(self, out):
        import json

        with open(out, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "hits": sorted(self.hits.items()),
                    "entered": sorted(self.entered.items()),
                    "returned": sorted(item for item in self.returned.items() if item[1] is not None),
                    "varying": sorted(self.varying),
                    "failure": self.failure,
                    "causes": self.causes,
                },
                file,
            )


def main():
    import os
    import threading
    import types

    out, script = sys.argv[1:3]
    del sys.argv[:2]
    sys.path[0] = os.path.dirname(script)
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__ = script
    module.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = module
    tracer = Tracer(script)
    tracer.namespace = module.__dict__

    def in_thread(args, report=threading.excepthook):
        if not tracer.failure:
            tracer.failed(args.exc_value, args.exc_traceback)
        report(args)

    threading.excepthook = in_thread
    stop = tracer.start_monitoring() if hasattr(sys, "monitoring") else tracer.start_settrace()
    try:
        exec(code, module.__dict__)
    except SystemExit:
        stop()
        tracer.save(out)
        raise
    except BaseException as error:
        stop()
        failed = error
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not code:
            traceback = traceback.tb_next
        failed.__traceback__ = traceback
        tracer.failed(error, traceback)
    else:
        failed = None
        # Threads that go on are a part of the run.
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        stop()
    tracer.save(out)
    if failed is not None:
        sys.excepthook(type(failed), failed, failed.__traceback__)
        sys.exit(1)


main()
