"""Notes a run of a script while it runs: which lines ran, where it failed, with which values."""

import os
import sys

from .compiler import let_alone
from .covered import Covered
from .events import start_monitoring, start_settrace
from .expressions import TEXT
from .library_frames import UNDER_WAY, calls_on, given_to, under_way
from .source import Source, looked_up
from .writer import Writer

LINES = 20_000  # line events of one code object that are counted before it is left alone
KEPT = 1_000_000  # the same where the last line that begins is to be known
RAISED = 500  # exceptions that are remembered
CALLS = 200  # calls of one function whose values are looked at
AGAIN = 5_000  # calls of one function whose arguments are remembered until it is called again
MADE = 50  # times that a statement comes by whose objects are remembered as it made them
OBJECTS = 2_000  # such objects
CAUSES = 20  # exceptions that one came from or holds, whose frames are looked at
FRAMES = 20  # frames of the script, at either end, whose values are looked at
IN_LIBRARIES = 8  # frames of packages, innermost first, that are looked at
SEEN = 50  # times that a watched line of a library comes by whose calls are looked at
NOTHING = {"named": "", "foreign": "", "kept": ""}  # patterns by which nothing but the script is looked at
LOOP = -1  # in place of an instruction: the frame is somewhere in the loop that begins on its line
IS_INLINING = sys.version_info >= (3, 12)  # whether comprehensions have no frames of their own


def words(error):
    """The last line of an exception's traceback, whose message may not be had."""
    try:
        message = str(error)
    except Exception:
        message = "<exception str() failed>"
    return type(error).__name__ + ": " + message


class Tracer:
    def __init__(self, script, source, covered=NOTHING):
        self.script = script
        self.covered = Covered(script, covered)
        self.source = source
        self.sought = ()
        self.temporary = os.environ.get("TMPDIR")
        self.work = os.getcwd()
        self.printed_failure = None  # the frames that printed a text that is sought, and those of the exceptions that it shows
        self.is_noting_print = False  # whether these are being noted: values that hold the text would be echoes of it
        self.hits = {}  # line -> times
        self.entered = {}  # first line of a function -> calls
        self.varying = set()  # first lines of functions that did not always return the same
        self.returned = {}  # first line of a function -> its last value as it is recorded, or None
        self.historic = set()  # first lines of functions that returned tensors with a history of gradients
        self.goes_back = False  # whether it was on the way back through such a history that it failed
        self.unwound = set()  # first lines of functions that an exception has left, as at the end of a loop
        self.made = {}  # id -> (object, args, kwargs) of constructions
        self.origins = {}  # id -> (object of a library, the expression that made it, the values of what that reads)
        self.done = {}  # line -> a call of a library's function for its effect, with values in place of names
        self.making = {}  # id of a frame -> (frame, target, expression, the values, what the target was)
        self.raised = {}  # id -> (exception, what had been returned when it was raised)
        self.kinds = set()  # names of the classes of exceptions that came by
        self.turns = {}  # id of a frame -> (frame, line, the variables of its comprehensions when an exception came)
        self.failure = []
        self.library_frames = []  # the frames of library code below the last frames that were noted, innermost first
        self.calls = []  # calls of PyTorch's functions there: the callee, its arguments, whether that was compiled
        self.causes = []
        self.library_failure = []  # the frames of library code that failed, outermost first
        self.forward = []
        self.namespace = {}
        self.arguments = {}  # first line of a function -> the arguments of its first call, as they are recorded
        self.latest = {}  # first line of a function -> the arguments of its last call, if that is another one
        self.eager_calls = {}  # the same as they are recorded, from a run without the compiler
        self.watched = {}  # line -> attributes that are read there
        self.watched_lines = {}  # (file of a library, line in it that is watched) -> its frame when it first came there
        self.sources = {}  # file of a library -> its text
        self.crash_stack = []  # lines of the script's frames, outermost first, where it crashes
        self.last = None  # keeps the lines that the script is at where that outlives a crash
        self.out = None  # where all this is written down
        self.is_let_alone = False  # whether PyTorch's compiler knows that this is not to be compiled
        self.graded = set()  # watched lines that were seen with gradients
        self.watched_files = set()  # the files of those
        self.seen = {}  # watched line -> the frame when it first came there
        self.watched_in_library = None  # a file of a library, and the line in it that is watched
        self.times_in_library = 0  # how often that came by

    def line(self, frame, line):
        if not self.is_let_alone and "torch" in sys.modules:
            self.is_let_alone = let_alone()
        count = self.hits.get(line, 0) + 1
        self.hits[line] = count
        if self.last is not None:
            self.last.keep(frame, self.is_own)
            if count == 1:
                self.last.come_to_new_line()
        self.have_made(frame)
        if count <= MADE:
            self.make(frame, line)
        if line in self.watched and (line not in self.seen or self.goes_back_first(line)):
            self.seen[line] = self.frame(frame, line, self.watched[line])
        if self.crash_stack and line == self.crash_stack[-1]:
            self.stand(frame)
            return True
        return count < (LINES if self.last is None else KEPT)

    def stand(self, frame):
        """Saves what is known where the script may crash now."""
        places = self.stack(frame)
        if [line for frame, line, _ in places if self.is_own(frame.f_code)] == self.crash_stack:
            self.failure = self.frames_at(places)
            # Nothing of the line itself has been done yet.
            self.failure[-1]["place"] = [self.crash_stack[-1], None, None, None]
            self.save(self.out)

    def stack(self, frame):
        """The frames down to one, outermost first, each with where it is."""
        places = []
        while frame is not None:
            places.insert(0, (frame, frame.f_lineno, frame.f_lasti))
            frame = frame.f_back
        return places

    def goes_back_first(self, line):
        """Whether a line that was seen without gradients only is seen with them now."""
        goes_back = sys.modules["torch"].is_grad_enabled()
        first = goes_back and line not in self.graded
        if goes_back:
            self.graded.add(line)
        return first

    def call(self, frame):
        code = frame.f_code
        first = code.co_firstlineno
        count = self.entered.get(first, 0) + 1
        self.entered[first] = count
        if count <= AGAIN and not code.co_name.startswith("<"):
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if count == 1:
                self.arguments[first] = self.values(frame, names)
            else:
                self.latest[first] = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
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

    def make(self, frame, line):
        """Notes that a statement begins that may make an object of a library, or that calls a function of one."""
        found = self.source.maker(line)
        if found is None or len(self.origins) > OBJECTS:
            return
        target, expression, paths = found
        try:
            inputs = {path: looked_up(node, frame) for path, node in paths.items()}
        except LookupError:
            return
        if target is ...:
            if line not in self.done and is_of_library(looked_up(expression.func, frame, None)):
                self.done[line] = Writer(self).given(expression, inputs)
            return
        self.making[id(frame)] = (frame, target, expression, inputs, target and looked_up(target, frame, None))

    def have_made(self, frame, result=None):
        """Notes what the last such statement of a frame has made; `result` is what it returns, if it does."""
        made = self.making.pop(id(frame), None)
        if made is None or made[0] is not frame:
            return
        _, target, expression, inputs, before = made
        value = looked_up(target, frame, None) if target is not None else result
        expression = maker(expression, frame, value)
        kind = type(value)
        torch = sys.modules.get("torch")
        if value is None or value is before or kind.__module__ in ("builtins", "__main__") or isinstance(value, type):
            return
        if torch is None or not isinstance(value, (torch.Tensor, torch.nn.Module)):
            self.origins.setdefault(id(value), (value, expression, inputs))

    def leave(self, frame, value):
        self.have_made(frame, value)
        code = frame.f_code
        if code.co_name == "<module>" or value is None:
            return
        first = code.co_firstlineno
        before = self.returned.get(first)
        self.returned[first] = None
        # Generators and coroutines return something else than their calls do.
        is_plain = not code.co_flags & 0x2A0 and first not in self.unwound and not is_given(frame, value)
        if is_plain and self.entered.get(first, 0) <= CALLS:
            writer = Writer(self)
            self.returned[first] = writer.recorded(value)
            if writer.has_history:
                self.historic.add(first)
            texts = [noted and noted["expression"] for noted in (before, self.returned[first])]
            if self.entered.get(first, 0) > 1 and texts[0] != texts[1]:
                self.varying.add(first)

    def unwind(self, code):
        """Notes that an exception leaves a function: it has no value that stands for all it did."""
        self.unwound.add(code.co_firstlineno)
        self.returned[code.co_firstlineno] = None

    def raise_(self, error):
        # The script's own classes may be named in any way. To miss a name of its own is not to miss any name.
        classes = [cls for cls in type(error).__mro__[:-1] if cls.__module__ != "__main__"]
        self.kinds.update(cls.__name__ for cls in classes if cls is not NameError or type(error) is NameError)
        if id(error) not in self.raised and len(self.raised) < RAISED:
            self.raised[id(error)] = (error, dict(self.returned))

    def turn(self, frame):
        """Notes the variables of comprehensions that have no frames of their own, before they end."""
        line = frame.f_lineno
        if len(self.turns) < RAISED and line is not None and self.source.comprehends(line):
            self.turns[id(frame)] = frame, line, dict(frame.f_locals)

    def is_own(self, code):
        return code.co_filename == self.script

    def start(self):
        """Begins to watch the script; returns the function that ends that."""
        return start_monitoring(self) if hasattr(sys, "monitoring") else start_settrace(self)

    def failed(self, error, traceback):
        """Notes the frames of a failure that are the script's, and of those that it came from."""
        self.goes_back = is_backward(traceback)
        self.failure = self.frames(traceback)
        self.library_failure = self.frames_in_libraries(traceback)
        # Where it is the history of a tensor that fails, a new tensor does not stand for one.
        self.calls = [] if self.goes_back else [call + [False] for call in under_way(self, self.library_frames)]
        self.causes = self.causes_of(error)[1:]
        seen = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            known = self.raised.get(id(error))
            if known is not None and known[0] is error:
                self.returned = known[1]
            error = error.__cause__ or error.__context__
        self.forget_histories(self.historic)

    def forget_histories(self, functions):
        """Where the history of a tensor fails, a new tensor cannot stand for one that has a history."""
        if self.goes_back:
            self.returned.update((first, None) for first in functions)

    def frames(self, traceback):
        """The frames of a traceback, outermost first."""
        places = []
        while traceback is not None:
            places.append((traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti))
            traceback = traceback.tb_next
        return self.frames_at(places)

    def frames_at(self, places):
        """The script's own of some frames, each given with where it is."""
        frames = []
        left = sum(self.is_own(frame.f_code) for frame, _, _ in places)
        has_values = False
        for frame, line, instruction in places:
            code = frame.f_code
            if self.is_own(code):
                left -= 1
                # Of a deep recursion, where it begins and where it ends.
                has_values = len(frames) < FRAMES or left < FRAMES
                place = place_of(code, line, instruction)
                for part, line, place in self.parts(frame, line, place):
                    names = list(part.f_locals)[:200]
                    names += [name for name in self.source.reads(line) if not name.isidentifier()]
                    names = names if has_values else []
                    loops = instruction == LOOP
                    frames.append(dict(self.frame(part, line, names), place=place, loops=loops, inside=[]))
            elif has_values:
                frames[-1]["inside"].insert(0, frame)
        self.library_frames = frames[-1]["inside"] if frames else []
        for own in frames:
            own["inside"] = given_to(self, own["inside"])
        return frames

    def frames_in_libraries(self, traceback):
        """The frames of a traceback in packages that are not to be kept, outermost first, the innermost ones only."""
        found = []
        while traceback is not None:
            frame = traceback.tb_frame
            if self.covered.is_extractable(frame.f_code.co_filename):
                found.append((frame, traceback.tb_lineno, place_of(frame.f_code, traceback.tb_lineno, traceback.tb_lasti)))
            traceback = traceback.tb_next
        return [dict(self.frame_in_library(frame, line), place=place) for frame, line, place in found[-IN_LIBRARIES:]]

    def frame_in_library(self, frame, line):
        """A frame of a library with the values of its variables and of what its line reads, in its module's names."""
        file = frame.f_code.co_filename
        source = self.source_of(file)
        names = list(frame.f_locals)[:200]
        names += [name for name in source.reads(line) if name not in frame.f_locals]
        noted = self.frame(frame, line, names, frame.f_globals)
        return dict(noted, file=self.covered.number(file), package=frame.f_globals.get("__package__"), inside=[])

    def source_of(self, file):
        """The text of a file of a library."""
        if file not in self.sources:
            with open(file, "rb") as stream:
                self.sources[file] = Source(stream.read())
        return self.sources[file]

    def parts(self, frame, line, place):
        """A frame, and the comprehensions that it is in as frames of their own, which they have before CPython 3.12."""
        known, noted, values = self.turns.get(id(frame), (None, None, {}))
        around = self.source.comprehensions(place) if known is frame and noted == line and None not in place else []
        parts = []
        part = frame
        for node in around:
            parts.append((part, node.lineno, [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]))
            part = Turn(frame, node, values)
        return parts + [(part, line, place)]

    def printed(self, text):
        """Notes who printed a text that is sought, and the exceptions that it may show."""
        if self.printed_failure is not None or not self.shows_failure(text):
            return
        self.printed_failure = [], []
        self.is_noting_print = True
        places = self.stack(sys._getframe(1))
        for frame, _, _ in places:
            if IS_INLINING and self.is_own(frame.f_code):
                self.turn(frame)
        frames, causes = self.frames_at(places), self.causes_of(sys.exc_info()[1])
        if not causes:
            errors = [error for error, _ in self.raised.values()]
            shown = [error for error in errors if self.shows_failure(words(error))]
            causes = self.causes_of(shown[-1] if shown else None)
        self.printed_failure = frames, causes
        self.is_noting_print = False

    def shows_failure(self, text):
        return any(sought in text for sought in self.sought)

    def causes_of(self, error):
        """The frames of an exception, and of those that it came from or that it holds, each on its own."""
        causes = []
        seen = set()
        left = [error]
        while left and len(seen) < CAUSES:
            error = left.pop(0)
            if isinstance(error, BaseException) and id(error) not in seen:
                seen.add(id(error))
                causes.append(self.frames(error.__traceback__))
                held = getattr(error, "exceptions", ())
                left += [error.__cause__ or error.__context__, *(held if isinstance(held, tuple) else ())]
        return causes

    def listen(self):
        """Has all that is printed looked at."""
        import io

        class Heard(io.TextIOWrapper):
            def write(self, text):
                result = io.TextIOWrapper.write(self, text)
                self.tail = self.tail[-TEXT:] + str(text)
                try:
                    tracer.printed(self.tail)
                except Exception:
                    # What the script prints stays as it is.
                    pass
                return result

        tracer = self
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if type(stream) is io.TextIOWrapper:
                options = dict(errors=stream.errors, line_buffering=stream.line_buffering)
                heard = Heard(stream.detach(), stream.encoding, **options)
                heard.tail = ""
                heard.mode = "w"
                setattr(sys, name, heard)
                setattr(sys, "__" + name + "__", heard)

    def frame(self, frame, line, names, namespace=None):
        """A frame with the values of some names and attributes, in the script's names or in those of another module."""
        code = frame.f_code
        return {
            "line": line,
            "place": [line, None, None, None],
            "function": code.co_name,
            "first_line": code.co_firstlineno,
            "values": self.values(frame, names, namespace),
        }

    def values(self, frame, names, namespace=None):
        """The values that can be written, by name."""
        writer = Writer(self, namespace)
        values = {}
        for name in names:
            # The iterators of comprehensions are locals with names such as `.0`.
            if not name.startswith("__") and not name.startswith("."):
                try:
                    value = eval(name, frame.f_globals, frame.f_locals)
                    # A method, or a part of a module, is best written as it is looked up.
                    if not name.isidentifier() and (
                        getattr(value, "__self__", None) is not None
                        or isinstance(eval(name.split(".")[0].split("[")[0], frame.f_globals, frame.f_locals), type(sys))
                    ):
                        continue
                except Exception:
                    continue
                noted = writer.recorded(value)
                if noted is not None and not (self.goes_back and writer.has_history):
                    values[name] = noted
        return values

    def compiled(self, error):
        """The script's lines that were being compiled when it failed, outermost first; where in the file of a library, if it
        was there; and the lines of packages that are not to be kept, file by file.
        """
        import re

        lines, library_line, in_packages = [], None, []
        while error is not None:
            _, mark, stack = str(error).rpartition("from user code:")
            found = re.findall(r'File "([^"]+)", line (\d+)', stack) if mark else []
            lines = [int(line) for file, line in found if file == self.script] or lines
            if found:
                library_line = (found[-1][0], int(found[-1][1])) if found[-1][0] != self.script else None
                in_packages = [(file, int(line)) for file, line in found if self.covered.is_extractable(file)]
            error = error.__cause__ or error.__context__
        return lines, library_line, in_packages[-IN_LIBRARIES:]

    def watch(self, lines, library_line, in_packages):
        """Has the values noted that these lines read, when the script comes there; and the calls on a line of a library."""
        self.watched = {line: self.source.reads(line) for line in lines}
        self.watched_in_library = library_line
        self.watched_lines = dict.fromkeys(in_packages)
        self.watched_files = {file for file, _ in in_packages}

    def is_watched(self, code):
        file = code.co_filename
        return file in self.watched_files or self.watched_in_library is not None and file == self.watched_in_library[0]

    def come_by(self, frame, line):
        """Notes the frame on a watched line of a package, and the calls on one of a library; returns whether to go on."""
        watched = (frame.f_code.co_filename, line)
        if self.watched_lines.get(watched, self) is None:
            self.watched_lines[watched] = dict(self.frame_in_library(frame, line), compiled=True)
        if self.watched_in_library is None or watched[0] != self.watched_in_library[0]:
            return False
        return self.come_by_calls(frame, line)

    def come_by_calls(self, frame, line):
        """Notes the calls on a line of a library, the last ones first; returns whether to go on."""
        if line != self.watched_in_library[1]:
            return False
        self.times_in_library += 1
        if self.times_in_library <= SEEN:
            watched, self.watched_in_library = self.watched_in_library, None
            for call in calls_on(self, frame, line):
                if call + [True] in self.calls:
                    self.calls.remove(call + [True])
                self.calls = [call + [True]] + self.calls[: UNDER_WAY - 1]
            self.watched_in_library = watched
        return self.times_in_library < SEEN

    def add(self, eager, lines, forward):
        """Adds what another run did without the compiler: compiled code runs as something else."""
        for mine, its in ((self.hits, eager.hits), (self.entered, eager.entered)):
            for line, count in its.items():
                mine.setdefault(line, count)
        for first, noted in eager.returned.items():
            self.returned.setdefault(first, noted)
        self.forget_histories(eager.historic)
        self.eager_calls.update(eager.last_calls())
        for first, values in eager.arguments.items():
            if len(values) >= len(self.arguments.get(first, ())):
                self.arguments[first] = values
        self.varying |= eager.varying
        self.take_in(list(lines) + [frame["line"] for frame in self.failure[-1:]])
        self.failure += [dict(eager.seen[line], compiled=True) for line in lines if line in eager.seen]
        self.library_failure += [frame for frame in eager.watched_lines.values() if frame is not None]
        self.calls = eager.calls or self.calls
        for line in forward:
            frame = eager.seen.get(line)
            if frame is not None:
                # The values that its result meets on its way out of the function.
                for other in self.source.rest_of(line):
                    for name, noted in eager.seen.get(other, {}).get("values", {}).items():
                        frame["values"].setdefault(name, noted)
                self.forward.append(frame)

    def take_in(self, lines):
        """Takes functions that compiled code hands over for executed: the compiler looks into them and calls none."""
        import ast

        todo = [function for line in lines for function in self.source.functions(line, called=False)]
        if todo:
            todo += self.source.forwards(self.entered)
        while todo:
            function = todo.pop()
            first = min([function.lineno] + [node.lineno for node in function.decorator_list])
            if self.entered.setdefault(first, 0) == 0:
                self.entered[first] = 1
                statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
                for line in {node.lineno for node in statements} - {function.lineno}:
                    self.hits.setdefault(line, 1)
                    todo += self.source.functions(line, called=True)

    def last_calls(self):
        """The arguments of the last calls, as they are recorded, where they differ from those of the first."""
        writer = Writer(self)
        found = {}
        for first, values in self.latest.items():
            noted = {name: writer.recorded(value) for name, value in values.items()}
            noted = {name: value for name, value in noted.items() if value is not None}
            if noted != self.arguments.get(first):
                found[first] = noted
        return found

    def save(self, out):
        import json

        if not self.failure and self.printed_failure is not None:
            self.failure, self.causes = self.printed_failure
            known = [item for item in self.returned.items() if item[1] is not None]
            self.returned = {line: noted for line, noted in known if not self.shows_failure(noted["expression"])}
        with open(out, "w", encoding="utf-8") as file:
            json.dump(
                {
                    **self.covered.noted(),
                    "hits": by_line(self.hits) + [[list(line), 1] for line in sorted(self.covered.hits)],
                    "entered": by_line(self.entered),
                    "returned": by_line(self.returned),
                    "varying": [of_script(line) for line in sorted(self.varying)],
                    "unwound": [of_script(line) for line in sorted(self.unwound)],
                    "raised": sorted(self.kinds),
                    "failure": placed(self.failure),
                    "calls": self.calls,
                    "causes": [placed(frames) for frames in self.causes],
                    "library": placed(self.library_failure),
                    "forward": placed(self.forward),
                    "done": by_line(self.done),
                    "arguments": by_line(self.arguments),
                    "latest": by_line({**self.last_calls(), **self.eager_calls}),
                },
                file,
            )


def of_script(line):
    """A line of the script as the evidence names lines: by the file's place in the list of files, and by number."""
    return [0, line]


def by_line(notes):
    """What is known of lines, in their order."""
    return [[of_script(line), notes[line]] for line in sorted(notes) if notes[line] is not None]


def placed(frames):
    """Frames with their lines as the evidence names them."""

    def line(frame, name):
        return [frame.get("file", 0), frame[name]]

    return [dict(frame, line=line(frame, "line"), first_line=line(frame, "first_line")) for frame in frames]


class Turn:
    """A comprehension as a frame of its own."""

    class Code:
        def __init__(self, node):
            self.co_name = "<" + type(node).__name__.lower() + ">"
            self.co_firstlineno = node.lineno

    def __init__(self, frame, node, values):
        import ast

        self.f_code = Turn.Code(node)
        self.f_globals = frame.f_globals
        around = {} if frame.f_code.co_name == "<module>" else frame.f_locals
        targets = [name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)]
        self.f_locals = dict(around, **{name: values[name] for name in targets if name in values})


def place_of(code, line, instruction):
    """Where in the text an instruction stands: line and column from, line and column to; the line alone before CPython 3.11."""
    if hasattr(code, "co_positions") and instruction >= 0:
        for index, found in enumerate(code.co_positions()):
            if index == instruction // 2 and found[0] is not None:
                return [found[0], found[2], found[1], found[3]]
    return [line, None, None, None]


def is_of_library(function):
    """Whether this is a function that stands by itself in a module other than the script."""
    owner = getattr(function, "__self__", None)
    is_free = owner is None or isinstance(owner, type(sys))
    return is_free and not isinstance(function, type) and getattr(function, "__module__", "") not in (
        None, "", "builtins", "__main__"
    )


def maker(expression, frame, value):
    """The call in an expression that made its value. A class makes no object of another class: where a `with` has such a one
    from it, as from `contextlib.closing`, that is what the class was given.
    """
    import ast

    while isinstance(expression, ast.Call) and len(expression.args) == 1 and isinstance(expression.args[0], ast.Call):
        called = looked_up(expression.func, frame, None)
        if not isinstance(called, type) or isinstance(value, called):
            break
        expression = expression.args[0]
    return expression


def is_given(frame, value):
    """Whether a function returns an object of a class that it was given: a new one is not in its place, as that of an
    iterator that returns itself would never end."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return type(value).__module__ != "builtins" and any(frame.f_locals.get(name) is value for name in names)


def is_backward(traceback):
    """Whether autograd was at work when it failed."""
    while traceback is not None:
        if "torch/autograd/" in traceback.tb_frame.f_code.co_filename.replace("\\", "/"):
            return True
        traceback = traceback.tb_next
    return False
