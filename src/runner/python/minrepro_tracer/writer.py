"""Values of a run as Python expressions, in the script's own names. Called wherever the tracer notes a value."""

import os
import sys

from .expressions import NODES, PARTS, TEXT, Enough, Stop
from .source import is_path
from .tensor import Tensor, kind_of


class Writer:
    """Values as Python expressions: literals, the script's own names, and calls of its classes."""

    def __init__(self, tracer, namespace=None):
        self.may_import = namespace is not None  # whether modules have their own names, too: what is written is not the script's
        namespace = tracer.namespace if namespace is None else namespace
        self.namespace = namespace
        self.made = tracer.made
        self.tracer = tracer
        self.keeps_leaves = False  # whether tensors that were computed differ from those that were made
        self.path = None  # how the value that is being written is looked up in the whole, if that is known
        self.held = []  # tensors and modules in the whole: how they are looked up, and what they are
        self.names = {}
        for name, value in namespace.items():
            if not (name.startswith("__") and name.endswith("__")):
                self.names.setdefault(id(value), name)

    def text(self, value):
        """The expression, or None."""
        return self.attempt(lambda: self.write(value, ""))

    def recorded(self, value):
        """The value as the evidence holds it: its expression, what it is or holds, and whether that is all; or None."""
        text = self.text(value)
        if text is None:
            return None
        noted = {"expression": text, "exact": not self.is_rough}
        if self.held and self.held[0][0] == "":
            noted["kind"] = self.held[0][1]
        elif self.held:
            noted["parts"] = [{"path": path, "kind": kind} for path, kind in self.held[:PARTS]]
        return noted

    def attempt(self, write):
        self.left = NODES
        self.seen = set()
        self.is_rough = False  # whether an object is written as it was made, not as it became
        self.has_history = False  # whether a tensor is in it that gradients go back through
        self.path = ""
        self.held = []
        try:
            text = write()
        except Exception:
            return None
        is_echo = self.tracer.is_noting_print and self.tracer.shows_failure(text)
        return text if len(text) <= TEXT and not is_echo else None

    def write(self, value, step=None):
        """The expression of a value; `step` is how it is looked up in what it is a part of."""
        outer, held = self.path, len(self.held)
        self.path = None if outer is None or step is None else outer + step
        try:
            text = self.expression(value)
            kind = kind_of(value)
            if kind is not None:
                # What it holds is its own.
                self.held[held:] = [(self.path, kind)]
            return text
        finally:
            self.path = outer

    def expression(self, value):
        self.left -= 1
        if self.left < 0:
            raise Enough
        kind = type(value)
        if value is None or value is ... or kind in (bool, int, str, bytes):
            text = repr(self.kept_path(value) if kind is str else value)
            if len(text) > TEXT:
                raise Stop
            return text
        if kind is float or kind is complex:
            text = repr(value)
            return 'float("%s")' % text if text in ("inf", "-inf", "nan") else text
        if isinstance(value, type) or kind is type(sys):
            return self.named(value)
        torch = sys.modules.get("torch")
        functools = sys.modules.get("functools")
        if functools is not None and kind is functools.partial and id(value) not in self.names:
            text = self.arguments((value.func,) + value.args, value.keywords.items())
            return self.named(kind) + "(" + text + ")"
        if callable(value) and not (torch is not None and isinstance(value, torch.nn.Module)):
            try:
                return self.named(value)
            except Stop:
                # Functions have names; objects that can be called are made of parts.
                if kind.__module__ == "builtins":
                    raise
        if id(value) in self.seen:
            raise Stop
        self.seen.add(id(value))
        try:
            return self.compound(kind, value)
        finally:
            self.seen.discard(id(value))

    def kept_path(self, text):
        """A text; of a path into a folder that is removed after the run, the last part, or the way from there."""
        folder, work = self.tracer.temporary, self.tracer.work
        if folder and text.startswith(folder) and "\n" not in text:
            return text.rstrip("/").rpartition("/")[2] if len(text) > len(folder) else "."
        if text == work or text.startswith(work + os.sep) and "\n" not in text:
            return os.path.relpath(text, work)
        return text

    def compound(self, kind, value):
        if kind is list:
            return "[" + ", ".join(self.parts(enumerate(value), self.element)) + "]"
        if kind is tuple:
            return "(" + self.row(value) + ("," if len(value) == 1 else "") + ")"
        if kind is set:
            parts = sorted(self.parts(value, self.write))
            return "{" + ", ".join(parts) + "}" if parts else "set()"
        if kind is frozenset:
            return "frozenset(" + (self.write(set(value)) if value else "") + ")"
        if kind is dict:
            return "{" + ", ".join(self.parts(value.items(), self.entry)) + "}"
        if kind in (bytearray, memoryview):
            return kind.__name__ + "(" + self.write(bytes(value)) + ")"
        if kind is range:
            return repr(value)
        if kind.__name__ in ("generator", "coroutine"):
            return self.suspended(value)
        if kind.__module__.split(".")[0] == "torch":
            return self.of_torch(sys.modules["torch"], kind, value)
        return self.instance(kind, value)

    def parts(self, items, write):
        """The elements of a container; those that cannot be written are left out, unless that is all of them.

        Tuples are no containers: each of their places has a meaning.
        """
        written = []
        left_out = False
        for item in items:
            try:
                written.append(write(item))
            except Stop:
                self.is_rough = True
                left_out = True
        if left_out and not written:
            raise Stop
        return written

    def element(self, item):
        return self.write(item[1], "[%d]" % item[0])

    def entry(self, item):
        key = self.write(item[0])
        return key + ": " + self.write(item[1], "[" + key + "]")

    def row(self, values):
        return ", ".join(map(self.element, enumerate(values)))

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
            if self.may_import and sys.modules.get(name) is value and self.is_importable(name):
                return name
            module = sys.modules.get(getattr(value, "__module__", None) or "")
            if module is not None and getattr(module, name, None) is value:
                if id(module) in self.names:
                    return self.names[id(module)] + "." + name
                if self.may_import and self.is_importable(module.__name__):
                    return module.__name__ + "." + name
            if str(getattr(value, "__module__", "")).split(".")[0] == "torch":
                return self.of_package(name, value)
        raise Stop

    def is_importable(self, name):
        """Whether a module is there by its own name for whoever has PyTorch, and that name means no other thing here."""
        known = getattr(sys, "stdlib_module_names", ())
        return (name in known or name == "torch") and not name.startswith("_") and name not in self.namespace

    def of_package(self, name, value):
        """What a package offers in another module than the one that defines it."""
        torch = sys.modules["torch"]
        paths = ((torch.nn, ".nn"), (torch.nn.functional, ".nn.functional"), (torch, ""))
        for module, _ in paths:
            if id(module) in self.names and getattr(module, name, None) is value:
                return self.names[id(module)] + "." + name
        for module, path in paths:
            if getattr(module, name, None) is value:
                return self.write(torch) + path + "." + name
        # What lies deeper is found there if the script has imported that.
        found, path = torch, value.__module__.split(".")[1:] + [name]
        for part in path:
            found = getattr(found, part, None)
        if found is value:
            return ".".join([self.write(torch)] + path)
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
            self.is_rough = True
            self.named(kind)
            return self.named(kind) + "(" + self.arguments(made[1], made[2]) + ")"
        fields = getattr(kind, "__dataclass_fields__", None)
        if fields is not None:
            parts = [(n, getattr(value, n)) for n, f in fields.items() if f.init]
            return self.named(kind) + "(" + ", ".join(n + "=" + self.write(v, "." + n) for n, v in parts) + ")"
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self.named(kind) + "(" + self.row(value) + ")"
        enum = sys.modules.get("enum")
        if enum is not None and isinstance(value, enum.Enum):
            return self.named(kind) + "." + value.name
        if isinstance(value, BaseException):
            return self.named(kind) + "(" + self.arguments(value.args, ()) + ")"
        if kind.__module__ == "__main__":
            import inspect

            for base in (dict, list, tuple, set, frozenset, str, bytes, bytearray, int, float):
                if isinstance(value, base) and kind.__init__ is base.__init__ and kind.__new__ is base.__new__:
                    return self.named(kind) + "(" + (self.write(base(value)) if value else "") + ")"
            # It may have been made with arguments all the same; a run will show.
            self.is_rough = True
            for parameter in inspect.signature(kind).parameters.values():
                if parameter.default is parameter.empty and parameter.kind not in (2, 4):
                    raise Stop
            return self.named(kind) + "()"
        return self.library(kind, value)

    def of_torch(self, torch, kind, value):
        """Tensors as calls that make others like them; modules, and what tensors are described by."""
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            self.has_history = self.has_history or value.grad_fn is not None
            return Tensor(torch, self.write(torch), value).text(self.keeps_leaves)
        if isinstance(value, torch.Tensor) and hasattr(value, "device_mesh") and hasattr(value, "placements"):
            # One that is spread over the processes of a mesh.
            parts = (value._local_tensor, value.device_mesh, value.placements)
            return self.named(kind) + ".from_local(" + self.arguments(parts, ()) + ")"
        if kind is torch.Size:
            return self.compound(tuple, tuple(value))
        if kind is torch.device:
            return self.write(torch) + '.device("' + str(value) + '")'
        if kind in (torch.dtype, torch.layout, torch.memory_format):
            return self.write(torch) + repr(value)[len("torch"):]
        if kind.__module__ == "torch._ops":
            return self.operator(torch, value)
        if not isinstance(value, torch.nn.Module):
            return self.instance(kind, value)
        plain = (torch.Tensor, torch.nn.Parameter)
        if not all(type(own) in plain for own in [*value.parameters(recurse=False), *value.buffers(recurse=False)]):
            # Its own are of another class than those that it is made with.
            raise Stop
        if kind in (torch.nn.Sequential, torch.nn.ModuleList):
            # What holds for the whole holds for its parts.
            parts = [self.write(part) for part in value]
            row = ", ".join(part[: -len(".eval()")] if part.endswith(".eval()") else part for part in parts)
            text = self.named(kind) + ("(" + row + ")" if kind is torch.nn.Sequential else "([" + row + "])")
        else:
            text = self.brief(kind, self.library(kind, value))
        return text if value.training else text + ".eval()"

    def operator(self, torch, value):
        """An operator, or the namespace of one, by its path: there is only one of each."""
        path = value.name if isinstance(value, type(sys)) else str(value)
        found = torch.ops
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not value:
            raise Stop
        return self.write(torch) + ".ops." + path

    def brief(self, kind, text):
        """A call without the arguments that are the defaults, and with `3` for `(3, 3)`."""
        import ast
        import inspect

        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not hasattr(ast, "unparse"):
            return text
        parameters = inspect.signature(kind).parameters
        kept = []
        for keyword in call.keywords:
            value = ast.literal_eval(keyword.value)
            if isinstance(value, tuple) and len(set(value)) == 1:
                value = value[0]
                keyword.value = ast.Constant(value)
            if value != getattr(parameters.get(keyword.arg), "default", inspect.Parameter.empty):
                kept.append(keyword)
        call.keywords = kept
        brief = ast.unparse(call)
        again = eval(brief, dict(self.namespace))
        return brief if repr(again) == repr(eval(text, dict(self.namespace))) else text

    def library(self, kind, value):
        """A value of a library: one whose parts are known, or whose repr is an expression in the script's names, or else as
        the script made it."""
        try:
            return self.described(kind, value)
        except Stop:
            return self.as_made(value)

    def as_made(self, value):
        """The expression that the script made an object by, with values instead of the names that it reads."""
        import ast

        known = self.tracer.origins.get(id(value))
        if known is None or known[0] is not value or not hasattr(ast, "unparse"):
            raise Stop
        self.is_rough = True
        return self.with_values(*known[1:])

    def given(self, expression, inputs):
        """An expression of the script with the values of what it reads, or None."""
        return self.attempt(lambda: self.with_values(expression, inputs))

    def with_values(self, expression, inputs):
        import ast
        import copy

        texts = {}
        for path, part in inputs.items():
            texts[path] = ast.parse(self.write(part), mode="eval").body

        class Given(ast.NodeTransformer):
            def visit(self, node):
                return texts.get(ast.unparse(node) if is_path(node) else None) or self.generic_visit(node)

        return ast.unparse(Given().visit(copy.deepcopy(expression)))

    def described(self, kind, value):
        names = getattr(sys, "stdlib_module_names", None)
        package = kind.__module__.split(".")[0]
        if names is not None and package not in names and package != "torch":
            raise Stop
        if kind.__module__ == "datetime" and kind.__name__ == "timezone" and value is kind.utc:
            return self.named(kind) + ".utc"
        made = self.of_parts(kind, value)
        if made is None:
            try:
                return self.by_repr(kind, value, package)
            except Exception:
                # That is no expression, or not one of this value.
                known = self.tracer.origins.get(id(value))
                made = None if known is not None and known[0] is value else self.of_attributes(kind, value)
        if made is None:
            raise Stop
        return self.named(made[0]) + "(" + self.arguments(*made[1:]) + ")"

    def by_repr(self, kind, value, package):
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
        # What is compared by its value is no more than that.
        self.is_rough = self.is_rough or (package != "torch" and kind.__eq__ is object.__eq__)
        return text

    def of_parts(self, kind, value):
        """The call that makes a value: a class or function, its arguments, and those by name.

        Lists the classes of the standard library whose `repr` is not such a call or does not hold all of the value, by
        the constructors that are documented for them. Other values are written as copying them would call it.
        """
        name = kind.__module__ + "." + kind.__name__
        if name in ("datetime.datetime", "datetime.date", "datetime.time", "datetime.timedelta"):
            parts = ["year", "month", "day"] if "date" in kind.__name__ else []
            if "time" in kind.__name__:
                parts += ["hour", "minute", "second", "microsecond"]
            if kind.__name__ == "timedelta":
                parts = ["days", "seconds", "microseconds"]
            args = [getattr(value, part) for part in parts]
            while args and not args[-1]:
                args.pop()
            zone = getattr(value, "tzinfo", None)
            return kind, args, [] if zone is None else [("tzinfo", zone)]
        if name in ("collections.Counter", "collections.OrderedDict"):
            return kind, [dict(value)] if value else [], []
        if name == "collections.defaultdict":
            return kind, [value.default_factory] + ([dict(value)] if value else []), []
        if name == "collections.deque":
            limit = [] if value.maxlen is None else [("maxlen", value.maxlen)]
            return kind, [list(value)] if value or limit else [], limit
        if name == "collections.ChainMap":
            return kind, value.maps, []
        if name == "re.Pattern":
            import re

            flags = value.flags & ~re.UNICODE if isinstance(value.pattern, str) else value.flags
            return re.compile, [value.pattern] + ([int(flags)] if flags else []), []
        if name in ("_io.StringIO", "_io.BytesIO"):
            return kind, [value.getvalue()[value.tell():]], []
        if name == "functools.partial":
            return kind, [value.func, *value.args], list(value.keywords.items())
        if name in ("types.SimpleNamespace", "argparse.Namespace"):
            return kind, [], list(vars(value).items())
        if name == "xml.etree.ElementTree.Element":
            self.is_rough = self.is_rough or len(value) > 0 or value.text is not None
            return kind, [value.tag] + ([value.attrib] if value.attrib else []), []
        if kind.__module__.startswith("pathlib") and len(kind.__mro__) > 2:
            # The script names the class of paths of any system.
            base = next((base for base in kind.__mro__ if id(base) in self.names), kind)
            return base, [str(value)], []
        if name.endswith("iterator") and hasattr(value, "__reduce__"):
            # One that calls a function, or asks an object of the script for its elements, runs the script's own code,
            # perhaps for ever.
            if name in ("builtins.callable_iterator", "builtins.iterator"):
                return None
            import copy

            return iter, [list(copy.copy(value))], []
        if repr(value).startswith("<"):
            # What it is copied by, if that is a call.
            try:
                function, args, *state = value.__reduce_ex__(2)
                if not any(part is not None for part in state) and function.__module__ != "copyreg":
                    return function, args, []
            except Exception:
                pass
        return None

    def of_attributes(self, kind, value):
        """The call of a class with the attributes that are named like its parameters: most keep there what they are given."""
        import inspect

        parameters = list(inspect.signature(kind).parameters.values())
        # What is left of the attributes, if that is one, is kept under another name.
        names = {parameter.name for parameter in parameters}
        others = [name for name in getattr(value, "__dict__", ()) if name not in names and name.lstrip("_") not in names]
        args, options = [], []
        for at, parameter in enumerate(parameters):
            name = parameter.name if hasattr(value, parameter.name) else "_" + parameter.name
            if parameter.kind in (2, 4):
                continue
            if not hasattr(value, name):
                if len(others) == 1:
                    name = others.pop()
                elif parameter.default is parameter.empty:
                    return None
                else:
                    continue
            part = getattr(value, name)
            if part is parameter.default:
                continue
            if parameter.kind != 3 and len(args) == at:
                args.append(part)
            else:
                options.append((parameter.name, part))
        self.is_rough = True
        return kind, args, options

    def arguments(self, args, kwargs):
        parts = [self.write(value) for value in args]
        parts += [name + "=" + self.write(value) for name, value in kwargs]
        return ", ".join(parts)
