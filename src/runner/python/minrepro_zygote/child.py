"""How a forked process becomes a run, waits for one, or gives up."""

import os
import sys

from .environment import OWN, set_environment
from .script_path import wide


def leave(path, json, note):
    """Ends a child that is not for this zygote, for a reason that is noted."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(note, file)
    os._exit(0)


def give_up(control, json, number, reason):
    """Ends a child that failed before anything of the script was run: what it says here, no script can say."""
    os.write(control, json.dumps({"broken": {"id": number, "reason": reason}}).encode())
    os._exit(0)


def reap(control, json, number, child):
    """The reaper of one run: waits for a child and for all that loses its parent below it; never returns."""

    def report(**packet):
        os.write(control, json.dumps(packet).encode())

    report(started=number)
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            os._exit(0)
        if pid == child:
            report(ended={"id": number, "status": status, "cpu": usage.ru_utime + usage.ru_stime})


def become(order, shelf, places, ctypes):
    """Makes this process what it would be had it been started for this run alone."""
    os.setpgid(0, 0)
    for fd, path in ((1, order["stdout"]), (2, order["stderr"])):
        opened = os.open(path, os.O_WRONLY)
        os.dup2(opened, fd)
        os.close(opened)
    if order["input"]:
        # Opened anew: what is inherited shares one position with every other run.
        opened = os.open(order["input"], os.O_RDONLY)
        os.dup2(opened, 0)
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
    # Another module may have that name.
    generator = getattr(shelf.modules.get("torch"), "default_generator", None)
    if generator is not None:
        generator.seed()
    # The module that the script becomes is there already, and is torn down by the collector only if it is not frozen.
    main = sys.modules["__main__"]
    for each in (main, vars(main)):
        ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(each))
        ctypes.pythonapi.PyObject_GC_Track(ctypes.py_object(each))
    shelf.note_path = order["note"]
    if order["record"]:
        shelf.notes = os.open(order["record"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    shelf.open()
