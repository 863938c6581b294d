"""Side effects of imports that are made ahead of their script: what each prints, sets and changes."""

import os
import sys

from .environment import difference, set_environment


class Doings:
    """What modules do while they are imported ahead, in order, beside being there: what they print, the variables they
    set, what they leave for the end. None of it is to be until the script imports them."""

    def __init__(self):
        import atexit

        self.events = []
        self.files = {}
        self.kept = {}
        for name, fd in (("stdout", 1), ("stderr", 2)):
            self.kept[name] = (fd, os.dup(fd))
            self.files[name] = os.memfd_create(name)
            os.dup2(self.files[name], fd)
        self.environment = dict(os.environ._data)
        # Variables that imports set to temporary folders which they made: these have other names in each process.
        self.folders = {}
        self.temporary = os.path.join(os.environ.get("TMPDIR", ""), "")
        self.atexit = atexit
        self.register = plain = atexit.register
        self.registered = registered = []

        def register(function, *args, **options):
            if self.register is None:
                return plain(function, *args, **options)
            # Temporary folders that imports made are left, as in `keep_folders`.
            made = getattr(sys.modules.get("tempfile"), "TemporaryDirectory", ())
            if not isinstance(getattr(function, "__self__", None), made):
                registered.append((function, args, options))
            return function

        atexit.register = register

    def collect(self, owner):
        """What was done since the last time is the owner's."""
        for name, fd in self.files.items():
            getattr(sys, name).flush()
            size = os.lseek(fd, 0, os.SEEK_CUR)
            if size:
                self.events.append((owner, name, os.pread(fd, size, 0).decode(errors="replace")))
                os.ftruncate(fd, 0)
                os.lseek(fd, 0, os.SEEK_SET)
        if os.environ._data != self.environment:
            now = dict(os.environ._data)
            changes = difference(self.environment, now)
            self.events.append((owner, "environment", changes))
            self.environment = now
            for name, value in changes.items():
                if value is not None and os.path.isabs(self.temporary) and os.fsdecode(value).startswith(self.temporary):
                    self.folders[os.fsdecode(name)] = os.fsdecode(value)
        if self.registered:
            self.events.append((owner, "atexit", self.registered[:]))
            self.registered.clear()

    def enter(self, values):
        """Sets the environment for the imports to come."""
        set_environment(self.as_here(values))
        self.environment = dict(os.environ._data)

    def as_here(self, values):
        """The environment of another process with the temporary folders of the imports in this one."""
        return {name: self.folders.get(name, value) for name, value in values.items()}

    def stop(self):
        for name, (fd, kept) in self.kept.items():
            os.dup2(kept, fd)
            os.close(kept)
            os.close(self.files[name])
        self.atexit.register, self.register = self.register, None

    def repeat(self, owners):
        """Does again, in a child, what these modules did."""
        left = []
        for event in self.events:
            owner, kind, what = event
            if owner not in owners:
                left.append(event)
            elif kind == "environment":
                for name, value in what.items():
                    if value is None:
                        os.environ.pop(os.fsdecode(name), None)
                    else:
                        os.environ[os.fsdecode(name)] = os.fsdecode(value)
            elif kind == "atexit":
                for function, args, options in what:
                    self.atexit.register(function, *args, **options)
            else:
                getattr(sys, kind).write(what)
        self.events = left


class Effects:
    """What an import does to modules that were imported before it, as when `torch._dynamo` wraps a function of `torch`,
    and to the rows that Python itself goes through."""

    ROWS = (("sys", "meta_path"), ("sys", "path_hooks"), ("sys", "path"), ("warnings", "filters"))

    def __init__(self):
        from _operator import is_

        self.is_same = is_
        self.seen = {}
        self.rows = {}
        self.changes = {}
        self.collect(None)

    def collect(self, owner):
        """What was changed since the last time is the owner's."""
        module_type = type(sys)
        for name, module in list(sys.modules.items()):
            if type(module) is not module_type:
                continue
            now = vars(module)
            before = self.seen.get(name)
            if before is not None and len(before) == len(now) and self.are_same(before, now):
                continue
            self.seen[name] = dict(now)
            for attribute in before.keys() | now.keys() if before is not None else ():
                old, new = before.get(attribute, Change.MISSING), now.get(attribute, Change.MISSING)
                if (name, attribute) == ("tempfile", "tempdir"):
                    # Each run has a folder of its own for them, and finds it as it goes.
                    continue
                if old is not new and new is not sys.modules.get(name + "." + attribute) and attribute[:2] != "__":
                    self.changes.setdefault(owner, []).append(Change(module, attribute, old, new))
        for place in self.ROWS:
            row = getattr(sys.modules.get(place[0]), place[1], None)
            if type(row) is not list:
                continue
            before = {id(each) for each in self.rows.get(place, row)}
            first = min((at for at, each in enumerate(row) if id(each) in before), default=len(row))
            ahead = row[:first]
            behind = [each for each in row[first:] if id(each) not in before]
            if ahead or behind:
                self.changes.setdefault(owner, []).append(Addition(*place, ahead, behind))
            self.rows[place] = list(row)

    def are_same(self, before, now):
        """Whether two dictionaries of one length hold the same objects under the same names in the same order."""
        return all(map(self.is_same, before, now)) and all(map(self.is_same, before.values(), now.values()))

    def undone(self):
        """By owner, what makes each change again; all are undone."""
        for changes in reversed(list(self.changes.values())):
            for change in reversed(changes):
                change.undo()
        return self.changes


class Change:
    """A variable of a module that was given another value."""

    MISSING = object()

    def __init__(self, module, attribute, old, new):
        self.module = module
        self.attribute = attribute
        self.old = old
        self.new = new

    def undo(self):
        self.put(self.old)

    def redo(self):
        self.put(self.new)

    def put(self, value):
        if value is not self.MISSING:
            setattr(self.module, self.attribute, value)
        elif self.attribute in vars(self.module):
            delattr(self.module, self.attribute)


class Addition:
    """What was put into a row, at its start and behind that."""

    def __init__(self, module, attribute, ahead, behind):
        self.module = module
        self.attribute = attribute
        self.ahead = ahead
        self.behind = behind

    def row(self):
        return getattr(sys.modules.get(self.module), self.attribute, None)

    def undo(self):
        added = {id(each) for each in self.ahead + self.behind}
        self.row()[:] = [each for each in self.row() if id(each) not in added]
        self.notice()

    def redo(self):
        if type(self.row()) is list:
            self.row()[:] = self.ahead + self.row() + self.behind
            self.notice()

    def notice(self):
        if self.module == "warnings":
            notice_filters()


def notice_filters():
    """Has `warnings` see that its filters are others than before."""
    import warnings

    notice = getattr(warnings, "_filters_mutated", None) or getattr(warnings, "_filters_mutated_lock_held", None)
    if notice is not None:
        notice()
