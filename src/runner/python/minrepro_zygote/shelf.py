"""Modules that were imported ahead, out of sight until the script imports them."""

import _frozen_importlib as bootstrap
import builtins
import os
import sys

from .child import leave
from .environment import difference, environment

OWN = "minrepro_"  # begins the name of every package beside this one


class Shelf:
    """Modules that are there but were not imported yet, and the way by which imports find them, before all others."""

    def __init__(self, record, environments, complaining, base, json):
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
        for name in complaining:
            self.modules.pop(name, None)
        self.known = self.foreseen(record.roots)

    def foreseen(self, roots):
        """The modules that come with those that were imported for themselves, found out once for all runs."""
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
                spec = plain(name, path, target)
                self.note_file(spec)
                return spec
            return plain(name, path, target)

        _find_spec.__code__ = _find_spec.__code__.replace(co_filename=plain.__code__.co_filename)
        bootstrap._find_spec = _find_spec

    def note(self, name):
        """Notes, in a run that is recorded, an import with the environment by then."""
        if self.notes is not None and not name.startswith(OWN):
            line = self.json.dumps([name, difference(self.base, environment())])
            os.write(self.notes, (line + "\n").encode())

    def note_file(self, spec):
        """Notes, in a run that is recorded, the file that a module is loaded from: a line that is no import."""
        if self.notes is not None and spec is not None and spec.has_location:
            os.write(self.notes, (self.json.dumps([spec.origin]) + "\n").encode())

    def create_module(self, spec):
        return self.modules[spec.name]

    def exec_module(self, module):
        name = module.__spec__.name
        # A module may refuse new attributes, and then kept the specification that it had.
        vars(module)["__spec__"] = self.specs[name]
        found = [each for each in self.known.get(name) or self.closure(name) if each in self.modules]
        if self.is_passed_by(found) or any(each in sys.modules for each in found if each != name):
            leave(self.note_path, self.json, "unfit")
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
        """The imports of a module, the packages of each before it."""
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
            leave(self.note_path, self.json, {"stale": difference(self.base, now)})
