"""The end of a child."""

import sys


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
