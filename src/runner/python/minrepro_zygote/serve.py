"""The zygote: an interpreter that has imported what a script imports, and forks a child for each run of it."""

import os
import sys

from minrepro_confine import Confinement

from .child import become, give_up, reap
from .environment import changed, environment, set_environment
from .followed import Followed
from .imports import import_ahead, keep_folders, keep_operators
from .leaving import Leaving
from .memory import gather_pages, tidy
from .record import Record
from .script_path import places_of
from .shelf import Shelf
from .warm_up import warm_up

SET_CHILD_SUBREAPER = 36

# Threads that a fork may lack: the library that started one expects forks and begins it anew where it needs it. jemalloc
# comes with pyarrow, and that with most installations of pandas.
KNOWN_THREADS = ("jemalloc_bg_thd",)


def main():
    """Serves until the socket closes; returns in a child that is to become a run."""
    control = int(os.environ.pop("MINREPRO_ZYGOTE"))
    os.set_inheritable(control, False)
    path = leave_environment()
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

    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    confinement = Confinement(**plan["confinement"])
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
    complaining = import_ahead(modules, environments, record)
    keep_folders()
    warm_up()
    leaving.finalizers = keep_operators()
    seconds = time.monotonic() - begun - getattr(modules, "waited", 0)
    set_environment(base)
    record.stop()
    shelf = Shelf(record, environments, complaining, base, json)
    unsafe = None
    if not places:
        unsafe = "this Python does not show where it keeps the path of its script"
    elif any(name not in KNOWN_THREADS for name in other_threads()):
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
                    confinement.begin(order["scratch"])
                    become(order, shelf, places, ctypes)
                    leaving.prepare()
                    os.close(control)
            except BaseException as error:
                give_up(control, json, order["id"], "%s: %s" % (type(error).__name__, error))
            if child == 0:
                return customized
            reap(control, json, order["id"], child)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def other_threads():
    """The names of the threads beside the main one."""
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            with open("/proc/self/task/%s/comm" % thread) as file:
                yield file.read().rstrip("\n")


def leave_environment():
    """Takes the variables that led to this package out of the environment; returns the path of the plan."""
    _, _, rest = os.environ.pop("PYTHONPATH").partition(os.pathsep)
    if rest:
        os.environ["PYTHONPATH"] = rest
    return os.environ.pop("MINREPRO_PLAN")


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
