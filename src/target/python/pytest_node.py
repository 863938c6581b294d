# Runs one test by the project's own pytest, and tells how it failed and what was set up for it.
import ast, inspect, os, textwrap

WORK = os.path.realpath(os.getcwd())


def inside(file):
    """A file's path within the project, or nothing."""
    file = os.path.abspath(str(file))
    for path in (file, os.path.realpath(file)):
        if path.startswith(WORK + os.sep):
            return os.path.relpath(path, WORK)
    return None


class Unwritable(Exception):
    pass


class Source:
    """The syntax tree of a module's file, to find what was written there."""

    known = {}

    def __init__(self, file):
        with open(file, encoding="utf-8") as opened:
            self.text = opened.read()
        self.tree = ast.parse(self.text)

    @classmethod
    def of(cls, file):
        if file not in cls.known:
            cls.known[file] = cls(file)
        return cls.known[file]

    def segment(self, node):
        text = ast.get_source_segment(self.text, node)
        return text if "\n" not in text else textwrap.dedent("(" + text + ")")

    def calls(self, names, word):
        """Calls of `word` in decorators of definitions of these names, and in values of `pytestmark`."""
        for node in ast.walk(self.tree):
            found = []
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name in names:
                found = node.decorator_list
            elif isinstance(node, ast.Assign) and any(getattr(each, "id", "") == "pytestmark" for each in node.targets):
                found = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]
            for call in found:
                if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) == word:
                    yield call


def literal(value):
    """A value as an expression that needs no name, or nothing."""
    try:
        text = repr(value)
        same = ast.literal_eval(text)
    except Exception:
        return None
    return text if len(text) < 2000 and type(same) is type(value) and repr(same) == text else None


def element(source, values, index, count, part, parts):
    """The source of one parameter among the values of a decorator."""
    if not isinstance(values, (ast.List, ast.Tuple)) or len(values.elts) != count:
        return None
    node = values.elts[index]
    if isinstance(node, ast.Starred):
        return None
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "param":
        if any(isinstance(each, ast.Starred) for each in node.args):
            return None
        return source.segment(node.args[part])
    if parts == 1:
        return source.segment(node)
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == parts:
        return source.segment(node.elts[part])
    return None


def argument(call, position, name):
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if len(call.args) > position else None


def of_mark(item, name, value):
    """The expression of a parameter that a mark gives to a test."""
    names = {item.function.__name__}
    if item.cls:
        names.update(each.__name__ for each in item.cls.__mro__)
    for mark in item.iter_markers("parametrize"):
        given = mark.args[0] if mark.args else mark.kwargs["argnames"]
        given = [each.strip() for each in given.split(",") if each.strip()] if isinstance(given, str) else list(given)
        if name not in given:
            continue
        values = mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]
        index, part = item.callspec.indices[name], given.index(name)
        for file in dict.fromkeys([str(item.path), inspect.getsourcefile(item.function)]):
            source = Source.of(file)
            for call in source.calls(names, "parametrize"):
                try:
                    written = ast.literal_eval(argument(call, 0, "argnames"))
                except Exception:
                    continue
                if isinstance(written, str):
                    written = [each.strip() for each in written.split(",") if each.strip()]
                if list(written) != given:
                    continue
                node = argument(call, 1, "argvalues")
                if node is None:
                    continue
                text = element(source, node, index, len(list(values)) if hasattr(values, "__len__") else -1, part, len(given))
                if text is None and literal(value) is None:
                    text = "list(%s)[%d]" % (source.segment(node), index)
                    text += ".values[%d]" % part if is_set(values, index) else "[%d]" % part if len(given) > 1 else ""
                if text is not None:
                    return text
    return written_down(item, value)


def is_set(values, index):
    try:
        return hasattr(list(values)[index], "marks")
    except Exception:
        return False


def written_down(item, value):
    text = literal(value)
    if text is not None:
        return text
    for name, each in vars(item.module).items():
        if each is value and name.isidentifier():
            return name
    raise Unwritable("a parameter cannot be written down: %.60r" % (value,))


def of_fixture(item, definition, request):
    """The expression of the parameter that a fixture was set up with."""
    name = definition.argname
    marks = [mark for mark in item.iter_markers("parametrize")]
    if definition.params and not any(name in str(mark.args[:1]) for mark in marks):
        source = Source.of(inspect.getsourcefile(definition.func))
        for call in source.calls({definition.func.__name__}, "fixture"):
            node = argument(call, 2, "params")
            if node is not None:
                text = element(source, node, request.param_index, len(definition.params), 0, 1)
                if text is not None:
                    return text
        return written_down(item, request.param)
    return of_mark(item, name, request.param)


def count_of(function):
    """How many arguments an xunit function takes besides `self`."""
    return len(inspect.signature(function).parameters)


class Recorder:
    def __init__(self):
        self.items, self.fixtures, self.phases, self.direct = [], [], [], {}
        self.failure = self.skipped = self.collection = self.item = None
        self.unsupported = []

    def pytest_collection_finish(self, session):
        self.items = [item.nodeid for item in session.items]
        if len(session.items) != 1:
            session.items[:] = []
            return
        self.item = session.items[0]

    def pytest_exception_interact(self, node, call, report):
        if self.item is None and self.collection is None:
            self.collection = str(call.excinfo.value)

    def fixture(self, definition, request):
        function = definition.func
        name = definition.argname
        module = getattr(function, "__module__", "") or ""
        of_pytest = module.startswith("_pytest.")
        if of_pytest and "get_direct_param" in function.__name__:
            self.direct[name] = of_mark(self.item, name, request.param)
            return
        if "xunit_setup_" in name or name.startswith(("_unittest_set", "unittest_set")) or "_unittest_" in name:
            self.xunit(name)
            return
        record = {"name": name, "arguments": [each for each in definition.argnames]}
        if not of_pytest and "request" in definition.argnames:
            record["request"] = self.asked(function)
        kinds = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        if any(kind(function) for kind in kinds):
            raise Unwritable("the fixture `%s` is asynchronous" % name)
        record["generator"] = inspect.isgeneratorfunction(function)
        if of_pytest:
            record["builtin"] = name
            record["generator"] = name in ("monkeypatch", "capsys", "caplog")
            self.fixtures.append(record)
            return
        plain = inspect.unwrap(getattr(function, "__func__", function))
        file = inside(inspect.getsourcefile(plain) or "")
        if file is None:
            raise Unwritable("the fixture `%s` belongs to the plugin `%s`" % (name, module.partition(".")[0]))
        record["file"] = file
        record["function"] = plain.__name__
        within = plain.__qualname__.rpartition(".")[0]
        if "<locals>" in within:
            raise Unwritable("the fixture `%s` is made by another function" % name)
        record["method"] = bool(within)
        if hasattr(request, "param"):
            record["parameter"] = of_fixture(self.item, definition, request)
        self.fixtures.append(record)

    def instance(self):
        return "test_instance" if hasattr(self.item.module, "test") else "test"

    def asked(self, function):
        """The attributes that a function reads of its `request`."""
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
        except (OSError, SyntaxError):
            raise Unwritable("the source of `%s` is not known" % function.__name__)
        names, plain = [], 0
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == "request":
                plain += 1
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "request":
                names.append(node.attr)
        unknown = sorted(set(names) - {"param", "addfinalizer", "getfixturevalue"})
        if unknown or plain > len(names):
            raise Unwritable("`%s` reads `request%s`" % (function.__name__, "." + unknown[0] if unknown else ""))
        return sorted(set(names))

    def xunit(self, name):
        """What pytest does for `setup_method` and its like, as statements; `test` is the instance."""
        item, function = self.item, self.instance() + "." + self.item.name.partition("[")[0]
        for kind, owner, prefix, given in (
            ("module", item.module, "", "sys.modules[__name__]"),
            ("function", item.module, "", self.item.name.partition("[")[0]),
            ("class", item.cls, item.cls and item.cls.__qualname__ + ".", item.cls and item.cls.__qualname__),
            ("method", item.cls, self.instance() + ".", function),
        ):
            if "_%s_" % kind not in name or owner is None:
                continue
            steps = {}
            for word in ("setup", "teardown"):
                for spelled in (word + "_" + kind, {"setup": "setUpModule", "teardown": "tearDownModule"}[word]):
                    found = getattr(owner, spelled, None)
                    if found is not None and word not in steps:
                        own = 1 if kind == "method" and inspect.isfunction(found) else 0
                        takes = count_of(found) - own
                        steps[word] = "%s%s(%s)" % (prefix, spelled, given if takes else "")
            self.fixtures.append({"name": name, "xunit": [steps.get("setup"), steps.get("teardown")]})

    def report(self, item, call, report):
        if report.outcome == "failed":
            self.phases.append(call.when)
        if report.outcome == "skipped" or hasattr(report, "wasxfail"):
            reason = getattr(report, "wasxfail", None) or (report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr))
            self.skipped = ("xfailed: " if hasattr(report, "wasxfail") else "") + (reason or "without a reason")
        if report.outcome != "failed" or self.failure:
            return
        if call.excinfo is None:
            self.failure = {"phase": call.when, "class": "Failed", "message": str(report.longrepr), "rewritten": False, "code": ""}
            return
        error = call.excinfo.value
        code = ""
        for entry in call.excinfo.traceback:
            if inside(entry.path):
                code = str(entry.statement).strip()
        kind = type(error)
        self.failure = {
            "phase": call.when,
            "class": kind.__qualname__.rpartition(".")[2],
            "message": str(error),
            "rewritten": kind is AssertionError,
            "code": code,
            "warning": kind.__module__ + "." + kind.__qualname__ if isinstance(error, Warning) else None,
        }

    def modules(self):
        """The project's files whose fixtures may be used, conftest files first, the test's own last."""
        own = inside(self.item.path)
        files = {}
        loaded = [module for module in list(sys.modules.values()) if inside(getattr(module, "__file__", None) or os.sep)]
        for plugin in self.item.config.pluginmanager.get_plugins():
            file = getattr(plugin, "__file__", None)
            if file and inside(file):
                files[inside(file)] = plugin
        used = {fixture["file"] for fixture in self.fixtures if "file" in fixture}
        for module in loaded:
            if inside(module.__file__) in used:
                files.setdefault(inside(module.__file__), module)
        files.pop(own, None)
        ordered = sorted(files.items(), key=lambda each: each[0].count(os.sep))
        ordered.append((own, self.item.module))
        return [{"file": file, "package": module.__package__ or ""} for file, module in ordered]

    def paths(self, parts):
        """The folders of the project that modules were found in, besides the project itself."""
        folders = set()
        for name, module in list(sys.modules.items()):
            file = inside(getattr(module, "__file__", None) or os.sep)
            if file is None or file in parts or module is sys.modules["__main__"]:
                continue
            folder = os.path.dirname(file)
            for _ in range(name.count(".") + (os.path.basename(file) == "__init__.py")):
                folder = os.path.dirname(folder)
            if folder:
                folders.add(folder)
        order = [inside(path) for path in sys.path]
        return sorted(folders, key=lambda folder: order.index(folder) if folder in order else len(order))

    def answer(self):
        item = self.item
        record = {"items": self.items, "skipped": self.skipped, "failure": self.failure}
        if item is None:
            if self.collection is not None:
                file = inside(question["node"].partition("::")[0])
                package = os.path.dirname(file)
                while package and not os.path.exists(os.path.join(WORK, package, "__init__.py")):
                    package = os.path.dirname(package)
                record["modules"] = [{"file": file, "package": package.replace(os.sep, ".")}]
                record["paths"] = self.paths({file})
            return record
        function = getattr(item, "function", None) or item.obj
        record["fixtures"] = self.fixtures
        record["instance"] = self.instance()
        record["phases"] = self.phases
        record["unsupported"] = self.unsupported
        record["modules"] = self.modules()
        record["paths"] = self.paths({module["file"] for module in record["modules"]})
        record["class"] = item.cls.__qualname__ if item.cls else None
        record["unittest"] = bool(item.cls) and "unittest.case" in {each.__module__ for each in item.cls.__mro__}
        record["function"] = item.name.partition("[")[0]
        record["coroutine"] = inspect.iscoroutinefunction(function)
        record["arguments"] = list(getattr(getattr(item, "_fixtureinfo", None), "argnames", ()))
        if "request" in record["arguments"]:
            try:
                record["request"] = self.asked(function)
            except Unwritable as error:
                self.unsupported.append(str(error))
        record["parameters"] = self.direct
        return record


def main():
    try:
        import pytest
    except ImportError:
        return {"pytest": False}
    recorder = Recorder()

    class Plugin:
        pytest_collection_finish = staticmethod(recorder.pytest_collection_finish)
        pytest_exception_interact = staticmethod(recorder.pytest_exception_interact)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item, call):
            outcome = yield
            recorder.report(item, call, outcome.get_result())

        # Afterwards: what a fixture asks for while it is set up comes first.
        @pytest.hookimpl(hookwrapper=True)
        def pytest_fixture_setup(self, fixturedef, request):
            yield
            try:
                recorder.fixture(fixturedef, request)
            except Unwritable as error:
                recorder.unsupported.append(str(error))
            except Exception as error:
                recorder.unsupported.append("the fixture `%s`: %s: %s" % (fixturedef.argname, type(error).__name__, error))

    os.chdir(os.path.join(WORK, question["folder"]))
    extra = ["-p", "no:cacheprovider"] + question["arguments"]
    import importlib.util

    if importlib.util.find_spec("xdist"):
        extra += ["-n", "0"]
    sys.argv[:] = ["pytest", question["node"]]
    status = pytest.main([question["node"]] + extra, plugins=[Plugin()])
    record = recorder.answer()
    callspec = getattr(recorder.item, "callspec", None)
    # Before pytest 8 such parameters are no fixtures.
    for name, value in getattr(callspec, "funcargs", {}).items():
        try:
            recorder.direct[name] = of_mark(recorder.item, name, value)
        except Unwritable as error:
            recorder.unsupported.append(str(error))
    record["status"] = int(status)
    record["collection"] = recorder.collection
    if not recorder.items:
        lister = Lister()
        file = question["node"].partition("::")[0]
        pytest.main([file, "--collect-only", "-q", "-p", "no:cacheprovider"], plugins=[lister])
        record["known"] = lister.known
    return record


class Lister:
    known = ()

    def pytest_collection_finish(self, session):
        self.known = [item.nodeid for item in session.items]


# What the test prints must not hide the answer.
answer(main(), sys.__stdout__)
