"""What each import brings with it, noted while modules are imported ahead of their script."""

import _frozen_importlib as bootstrap
import builtins
import sys


class Record:
    """What each import brings with it, noted while modules are imported ahead."""

    def __init__(self):
        self.base = set(sys.modules)
        self.stack = []
        self.edges = {}
        self.when = {}
        self.moment = 0
        self.roots = []
        self.doings = None

    def start(self):
        self.plain = plain = (bootstrap._load_unlocked, bootstrap._gcd_import, builtins.__import__)

        def load(spec):
            self.edge(spec.name)
            self.when[spec.name] = self.moment
            if self.doings:
                self.doings.collect(self.stack[-1] if self.stack else spec.name)
            self.stack.append(spec.name)
            try:
                return plain[0](spec)
            finally:
                self.stack.pop()
                if self.doings:
                    self.doings.collect(spec.name)

        def gcd_import(name, package=None, level=0):
            module = plain[1](name, package, level)
            self.edge(bootstrap._resolve_name(name, package, level) if level else name)
            return module

        def imports(name, globals=None, locals=None, fromlist=(), level=0):
            module = plain[2](name, globals, locals, fromlist, level)
            if self.stack:
                if level:
                    name = bootstrap._resolve_name(name, bootstrap._calc___package__(globals), level)
                self.edge(name)
                for part in fromlist or ():
                    if isinstance(part, str):
                        self.edge(name + "." + part)
            return module

        bootstrap._load_unlocked, bootstrap._gcd_import, builtins.__import__ = load, gcd_import, imports

    def stop(self):
        bootstrap._load_unlocked, bootstrap._gcd_import, builtins.__import__ = self.plain

    def edge(self, name):
        if self.stack:
            self.edges.setdefault(self.stack[-1], {})[name] = None
