"""The zygote: an interpreter that has imported what a script imports, and forks a child for each run of it.

It is found as `sitecustomize`, so that it runs before the interpreter opens its main script. A child sets its own
arguments, streams and folders, writes the path of its script over the one the interpreter was started with, and returns:
all that follows, from the opening of the script to the last flush, is the interpreter's own work, with no frame of ours
below. Needs CPython 3.8 or later with ctypes, on Linux.

What was imported ahead is out of sight in a child until the script imports it; then all that this import would have
brought comes with it, and what it printed is printed. If the environment is not as it was when a module was imported, the
child leaves a note and ends: that run is for another zygote. So it does if the script has changed how Python imports: that
run is for no zygote.

What imports do is in `imports.py`, which comes before in the same file. Orders and answers are packets of JSON on the
socket named by MINREPRO_ZYGOTE; the plan is `plan.json` beside this file.
"""

import _frozen_importlib as bootstrap
import builtins
import os
import sys

# Variables that differ from run to run.
OWN = ("TMPDIR", "TEMP", "TMP", "PWD")

# Variables that no import depends on: at the last one only an interpreter that starts looks.
NO_MATTER = OWN + ("PYTHONHASHSEED",)

# Is imported where PyTorch's compiler is at work.
COMPILER = "torch._inductor.codecache"

# What PyTorch computes once in each process and what depends on nothing but its version and the machine.
WARM_UP = (
    ("torch._inductor.cpu_vec_isa", "pick_vec_isa"),
    ("torch._inductor.codecache", "torch_key"),
    ("triton.runtime.cache", "triton_key"),
    ("triton.compiler.compiler", "triton_key"),
)

# The same, but it asks for GPUs: that starts CUDA, which no fork survives.
WARM_UP_WITHOUT_GPU = (
    ("torch._inductor.codecache", "CacheBase.get_system"),
    ("torch._inductor.fx_passes.joint_graph", "lazy_init"),
    ("torch._inductor.fx_passes.post_grad", "lazy_init"),
)

# Where Linux shows NVIDIA's, AMD's and Intel's.
GPUS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri")

# Sources of PyTorch in which its compiler looks up the names of functions for nearly every model: it reads them whole.
LOOKED_UP = ("torch.nn.functional",) + tuple(
    "torch.nn.modules." + name for name in ("activation", "container", "linear", "module", "normalization", "sparse")
)

SET_CHILD_SUBREAPER = 36

PAUSE = 0.005  # seconds until it is looked again for what a run has imported

MANY = 100000  # objects among which it takes long to look for garbage

HUGE = 2 << 20
MADV_COLLAPSE = 25


def main():
    """Serves until the socket closes; returns in a child that is to become a run."""
    control = int(os.environ.pop("MINREPRO_ZYGOTE"))
    os.set_inheritable(control, False)
    folder = leave_search_path()
    record = Record()
    record.start()
    customized = customize()
    import atexit
    import ctypes
    import gc
    import json
    import select
    import time

    libc = ctypes.CDLL(None)
    leaving = Leaving(libc, ctypes, gc)
    atexit.register(leaving.python)

    with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    confinement = confinement_of(plan, folder)
    places = places_of(sys.argv[0], ctypes)
    base = environment()
    environments = [changed(base, change) for change in plan.get("environments", [{}])]
    modules = plan.get("modules")
    if modules is None:
        modules = Followed(plan["followed"], plan["beside"], base, environments, gc, json, time)
    begun = time.monotonic()
    thresholds = gc.get_threshold()
    # Nearly nothing that imports make is garbage: it is looked for once, when all is there.
    gc.set_threshold(0)
    told = import_ahead(modules, environments, record)
    keep_folders()
    warm_up()
    leaving.finalizers = keep_operators()
    seconds = time.monotonic() - begun - getattr(modules, "waited", 0)
    set_environment(base)
    record.stop()
    shelf = Shelf(record, environments, told, base, json)
    unsafe = None
    if not places:
        unsafe = "this Python does not tell where it keeps the path of its script"
    elif len(os.listdir("/proc/self/task")) > 1:
        unsafe = "what it imports starts threads"
    elif "torch.cuda" in shelf.modules and shelf.modules["torch.cuda"].is_initialized():
        unsafe = "what it imports starts CUDA"
    leaving.modules = {name: len(vars(module)) for name, module in shelf.modules.items() if type(module) is type(sys)}
    if gc.get_threshold()[0] == 0:
        gc.set_threshold(*thresholds)
    tidy(gc)
    pages = gather_pages(libc, ctypes)
    os.write(control, json.dumps({"ready": {"unfit": unsafe, "seconds": seconds}}).encode())
    while True:
        # Only while there is nothing else to do: it pays only where there are many runs.
        while not select.select([control], [], [], 0)[0] and next(pages, False):
            pass
        packet = os.read(control, 1 << 20)
        if not packet:
            os._exit(0)
        order = json.loads(packet)
        if confinement.fork() == 0:
            try:
                libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
                os.setsid()
                confinement.enter(order["scratch"], order["sockets"])
                child = os.fork()
                if child == 0:
                    os.close(control)
                    confinement.begin(order["scratch"])
                    become(order, shelf, places, ctypes)
                    leaving.prepare()
            except BaseException as error:
                leave(order["note"], json, {"broken": "%s: %s" % (type(error).__name__, error)})
            if child == 0:
                return customized
            keep(control, json, order["id"], child)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def confinement_of(plan, folder):
    """How runs are confined. The module for it is no module that a script could come upon."""
    confine = {"__name__": "confine"}
    with open(os.path.join(folder, "confine.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "confine.py", "exec"), confine)
    return confine["Confinement"](**plan["confinement"])


def leave_search_path():
    """Takes this file's folder off the search path and out of the environment, and returns it."""
    folder, _, rest = os.environ.pop("PYTHONPATH").partition(os.pathsep)
    if rest:
        os.environ["PYTHONPATH"] = rest
    sys.path.remove(folder)
    sys.path_importer_cache.pop(folder, None)
    return folder


def customize():
    """Imports the `sitecustomize` that this file stands before; whether there is one."""
    ours = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
        return True
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    except Exception as error:
        sys.stderr.write(
            "Error in sitecustomize; set PYTHONVERBOSE for traceback:\n%s: %s\n" % (type(error).__name__, error)
        )
    sys.modules["sitecustomize"] = ours
    return False


def environment():
    return {name: value for name, value in os.environ.items() if name not in NO_MATTER}


def set_environment(values):
    for name in [name for name in os.environ if name not in values and name not in NO_MATTER]:
        del os.environ[name]
    for name, value in values.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def changed(before, change):
    """The environment before, with what was set and, as None, what was removed."""
    values = dict(before, **change)
    return {name: value for name, value in values.items() if value is not None}


def difference(before, after):
    """What was set, and, as None, what was removed."""
    changes = {name: value for name, value in after.items() if before.get(name) != value}
    changes.update((name, None) for name in before if name not in after)
    return changes


def places_of(path, ctypes):
    """Where the interpreter's configuration keeps the path of its script: addresses of wide characters.

    The structure is read as words; one that leads to the path, or to a list that begins with it, is what is sought.
    """
    api = ctypes.pythonapi
    get = getattr(api, "_Py_GetConfig", None) or getattr(api, "_PyInterpreterState_Get", None)
    if get is None:
        return []
    get.restype = ctypes.c_void_p
    get.argtypes = []
    wanted = wide(path)
    memory = os.open("/proc/self/mem", os.O_RDONLY)

    def read(address, size):
        try:
            return os.pread(memory, size, address)
        except (OSError, OverflowError):
            return b""

    def words(data):
        return [int.from_bytes(data[at : at + 8], sys.byteorder) for at in range(0, len(data), 8)]

    found = {}
    for word in words(read(get(), 8192)):
        for address in [word] + words(read(word, 8)):
            if read(address, len(wanted)) == wanted:
                found[address] = None
    os.close(memory)
    return list(found)


def wide(text):
    encoding = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    return (text + "\0").encode(encoding, "surrogateescape")


def warm_up():
    if COMPILER not in sys.modules:
        return
    has_gpu = any(map(os.path.exists, GPUS))
    for module, name in WARM_UP if has_gpu else WARM_UP + WARM_UP_WITHOUT_GPU:
        function = sys.modules.get(module)
        for part in name.split("."):
            function = getattr(function, part, None)
        if function is not None:
            try:
                function()
            except Exception:
                # A version that wants something else; it will be computed when it is needed.
                pass
    look_up = getattr(sys.modules.get("torch._dynamo.funcname_cache"), "get_funcname", None)
    for name in LOOKED_UP:
        if look_up is not None and name in sys.modules:
            try:
                look_up(sys.modules[name].__file__, 1)
            except Exception:
                return


def tidy(gc):
    """Leaves nothing that is there to the collector of a child."""
    gc.collect()
    gc.freeze()


class Followed:
    """What a run imports, in order, while it runs: modules, each with the place of its environment in a list that grows. It is
    written down line by line; an empty line is the last."""

    def __init__(self, path, beside, base, environments, gc, json, time):
        self.path = path
        self.beside = frozenset(beside)
        self.base = base
        self.environments = environments
        self.gc = gc
        self.json = json
        self.time = time
        self.waited = 0  # seconds

    def __iter__(self):
        changes = [{}]
        for line in self.lines():
            try:
                name, change = self.json.loads(line)
            except ValueError:
                # The run was ended while it wrote.
                continue
            if name.partition(".")[0] not in self.beside:
                if change not in changes:
                    changes.append(change)
                    self.environments.append(changed(self.base, change))
                yield name, changes.index(change)

    def lines(self):
        rest = b""
        with open(self.path, "rb") as file:
            while True:
                *lines, rest = (rest + file.read()).split(b"\n")
                for line in lines:
                    if not line:
                        return
                    yield line
                if not lines and self.gc.get_count()[0] > MANY:
                    tidy(self.gc)
                elif not lines:
                    self.time.sleep(PAUSE)
                    self.waited += PAUSE


class Shelf:
    """Modules that are there but were not imported yet, and the way by which imports find them, before all others."""

    def __init__(self, record, environments, told, base, json):
        self.record = record
        self.environments = environments
        self.base = base
        self.json = json
        self.path = list(sys.path)
        self.ways = (sys.meta_path[0], sys.path_hooks[0], builtins.__import__)
        library = os.path.dirname(os.__file__) + os.sep
        self.library = (library, library + "site-packages", library + "dist-packages")
        self.modules = {}
        self.specs = {}
        self.attributes = {}
        self.notes = None
        for name in [name for name in sys.modules if name not in record.base and name != "sitecustomize"]:
            if name not in record.when:
                # Put there by hand: it comes with its package, or is there from the beginning.
                package = name.rpartition(".")[0]
                if package not in record.when:
                    continue
                record.edges.setdefault(package, {})[name] = None
                record.when[name] = record.when[package]
            self.modules[name] = module = sys.modules.pop(name)
            self.specs[name] = getattr(module, "__spec__", None)
        for name, module in self.modules.items():
            parent, _, child = name.rpartition(".")
            parent = self.modules.get(parent) or sys.modules.get(parent)
            try:
                if vars(parent).get(child) is module:
                    delattr(parent, child)
                    self.attributes[name] = parent
            except (TypeError, AttributeError):
                pass
        for name in told:
            self.modules.pop(name, None)
        self.known = self.foreseen(record.roots)

    def foreseen(self, roots):
        """What comes with the modules that were imported for themselves, found out once for all runs."""
        known, left = {}, 20 * len(self.modules)
        for root in roots:
            if root in self.modules and left > 0:
                package = root.partition(".")[0]
                known[root] = self.closure(root, () if package == root else known.get(package, ()))
                left -= len(known[root])
        return known

    def open(self):
        """Has imports look here first. Nothing of it is to be seen: a search for a module without its import goes on to
        the finders, and the function is in the file that errors of imports leave out of their tracebacks."""
        self.plain = plain = bootstrap._find_spec
        imports = bootstrap._find_and_load_unlocked.__code__
        frame = sys._getframe

        def _find_spec(name, path, target=None):
            if frame(1).f_code is imports:
                self.note(name)
                if name in self.modules and (path is not None or not self.is_elsewhere(name)):
                    return bootstrap.ModuleSpec(name, self)
            return plain(name, path, target)

        _find_spec.__code__ = _find_spec.__code__.replace(co_filename=plain.__code__.co_filename)
        bootstrap._find_spec = _find_spec

    def note(self, name):
        """Writes down, in a run that is recorded, what is imported and what the environment is by then."""
        if self.notes is not None:
            line = self.json.dumps([name, difference(self.base, environment())])
            os.write(self.notes, (line + "\n").encode())

    def create_module(self, spec):
        return self.modules[spec.name]

    def exec_module(self, module):
        name = module.__spec__.name
        module.__spec__ = self.specs[name]
        found = [each for each in self.known.get(name) or self.closure(name) if each in self.modules]
        if self.is_passed_by(found) or any(each in sys.modules for each in found if each != name):
            leave(self.told, self.json, "unfit")
        self.check(found)
        for each in found:
            there = self.modules.pop(each)
            if each != name:
                sys.modules[each] = there
            if each in self.attributes:
                setattr(self.attributes.pop(each), each.rpartition(".")[2], there)
            for change in self.record.effects.pop(each, ()):
                change.redo()
        self.record.doings.repeat(set(found))

    def is_passed_by(self, found):
        """Whether the script has changed how Python imports so that modules would come to it another way."""
        finder, hook, imports = self.ways
        if finder not in sys.meta_path or sys.path_hooks[:1] != [hook] or builtins.__import__ is not imports:
            return True
        for other in sys.meta_path[: sys.meta_path.index(finder)]:
            kind = other if isinstance(other, type) else type(other)
            if kind.__module__ == "__main__" or any(other.find_spec(each, None) for each in found):
                return True
        return False

    def closure(self, name, there=()):
        """This module and all that comes with it beside what is there, in the order in which their imports would be done.
        What is there has brought with it all that it needs: so this holds, but for that, whenever it is asked."""
        found, seen = [], {name, *there}
        stack = [(name, iter(self.edges_of(name)))]
        while stack:
            owner, edges = stack[-1]
            for each in edges:
                if each not in seen and each in self.modules:
                    seen.add(each)
                    stack.append((each, iter(self.edges_of(each))))
                    break
            else:
                found.append(owner)
                stack.pop()
        return found

    def edges_of(self, name):
        """What a module imports, the packages of each before it."""
        edges = []
        for each in self.record.edges.get(name, ()):
            at = each.find(".")
            while at > 0:
                edges.append(each[:at])
                at = each.find(".", at + 1)
            edges.append(each)
        return edges

    def is_elsewhere(self, name):
        """Whether a search path that the script has changed leads to another module of this name, or to none."""
        if sys.path[1:] == self.path:
            return False
        origin = getattr(self.specs[name], "origin", None)
        return origin is not None and getattr(self.plain(name, None), "origin", None) != origin

    def is_of_python(self, name):
        """Whether a module comes with Python itself: those read no variables when they are imported."""
        origin = getattr(self.specs[name], "origin", None) or ""
        library, *installed = self.library
        return not origin.startswith(os.sep) or (
            origin.startswith(library) and not origin.startswith(tuple(installed))
        )

    def check(self, found):
        now = environment()
        fits = [each == now for each in self.environments]
        if not all(fits) and not all(fits[self.record.when.get(each, 0)] or self.is_of_python(each) for each in found):
            leave(self.told, self.json, {"stale": difference(self.base, now)})


class Leaving:
    """The end of a child: all that can be seen of it is as ever, but what was imported ahead is not torn down.

    That would take longer than many a run: each module and each library would first be copied, then destroyed.
    """

    def __init__(self, libc, ctypes, gc):
        self.libc = libc
        self.ctypes = ctypes
        self.gc = gc
        self.modules = {}
        self.finalizers = []

    def python(self):
        """The last of all functions of `atexit`, since it was registered before any module was imported."""
        if self.is_watched():
            for finalizer in self.finalizers:
                finalizer()
            return
        kept = [sys.modules.pop(name, None) for name in self.modules]
        self.ctypes.pythonapi.Py_IncRef(self.ctypes.py_object(kept))

    def is_watched(self):
        """Whether something of the script could tell that a module was not torn down."""
        for name, size in self.modules.items():
            module = sys.modules.get(name)
            if module is not None and type(module) is type(sys) and len(vars(module)) > size:
                # Only what was added is looked at: to touch the rest is to copy it.
                added = zip(range(len(vars(module)) - size), reversed(vars(module).values()))
                if any(type(each).__module__ == "__main__" for _, each in list(added)):
                    return True
        return any("__del__" in each for each in self.classes_of_main())

    def classes_of_main(self):
        """What is in the classes that the script defined: variables of it, or objects that were not there when the zygote
        froze its own. Nothing of the script's is called for it."""
        main = list(vars(sys.modules["__main__"]).values()) if "__main__" in sys.modules else []
        for each in main + self.gc.get_objects():
            if issubclass(type(each), type):
                variables = type.__getattribute__(each, "__dict__")
                if variables.get("__module__") == "__main__":
                    yield variables

    def prepare(self):
        """Has the C library leave at once when it has nothing to do any more but to destroy what the zygote loaded."""
        if hasattr(self.libc, "on_exit"):
            address = self.ctypes.c_void_p
            self.libc.on_exit(self.ctypes.cast(self.libc._exit, address), None)
            getattr(self.libc, "__cxa_atexit")(self.ctypes.cast(self.libc.fflush, address), None, None)


def gather_pages(libc, ctypes):
    """Has the kernel put the heap into huge pages, where it can: a fork copies the table of the pages, which takes longer
    than the fork has otherwise to do. A page that a child writes to is still copied alone. Linux 6.1 or later. Yields
    after each page."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.split() for line in file]
    for span, rights, *rest in lines:
        if rights == "rw-p" and rest[3:] in ([], ["[heap]"]):
            start, end = (int(each, 16) // HUGE * HUGE for each in span.split("-"))
            start += HUGE
            for page in range(start, end, HUGE):
                libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(HUGE), MADV_COLLAPSE)
                yield True


def leave(path, json, note):
    """Ends a child that can not run, for a reason that is noted."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(note, file)
    os._exit(0)


def keep(control, json, number, child):
    """Waits for a child and for all that loses its parent below it; never returns."""

    def tell(**answer):
        os.write(control, json.dumps(answer).encode())

    tell(started=number)
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            os._exit(0)
        if pid == child:
            tell(ended={"id": number, "status": status, "cpu": usage.ru_utime + usage.ru_stime})


def become(order, shelf, places, ctypes):
    """Makes this process what it would be had it been started for this run alone."""
    os.setpgid(0, 0)
    for fd, path in ((1, order["stdout"]), (2, order["stderr"])):
        opened = os.open(path, os.O_WRONLY)
        os.dup2(opened, fd)
        os.close(opened)
    for name in OWN:
        os.environ.pop(name, None)
    set_environment(order["env"])
    os.chdir(order["work"])
    sys.argv[:] = order["argv"][1:]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = order["argv"]
    path = wide(order["argv"][1])
    for address in places:
        ctypes.memmove(address, path, len(path))
    if "tempfile" in shelf.modules:
        shelf.modules["tempfile"].tempdir = None
    if "numpy.random.mtrand" in shelf.modules:
        shelf.modules["numpy.random.mtrand"].seed()
    # The module that the script becomes is there already, and is torn down by the collector only if it is not frozen.
    main = sys.modules["__main__"]
    for each in (main, vars(main)):
        ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(each))
        ctypes.pythonapi.PyObject_GC_Track(ctypes.py_object(each))
    shelf.told = order["note"]
    if order["record"]:
        shelf.notes = os.open(order["record"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    shelf.open()


if not main():
    raise ImportError("no sitecustomize", name="sitecustomize")
