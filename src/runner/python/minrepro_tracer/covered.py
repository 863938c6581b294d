"""The files whose code may be inlined: which they are, which of their lines run, and where their modules are imported."""

import os
import sys

LINES = 20_000  # line events of one code object that are looked at, where single lines cannot be left alone
OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep


class Covered:
    """The files besides the script that a run comes to. Each has a number; the script's is 0."""

    def __init__(self, script, patterns):
        import re

        self.script = script
        self.patterns = patterns
        # A pattern that is empty matches everywhere.
        self.named = re.compile(patterns["named"] or "(?!)")
        self.foreign = re.compile(patterns["foreign"] or "")
        self.kept = re.compile(patterns["kept"])
        self.temporary = os.environ.get("TMPDIR")
        self.known = {}  # file -> whether its code may be inlined
        self.numbers = {script: 0}
        self.hits = {}  # (number of the file, line) -> 1
        self.events = {}  # id of a code object -> how many of its line events were looked at
        self.modules = []

    def is_covered(self, code):
        """Whether the code of a file may be inlined."""
        file = code.co_filename
        found = self.known.get(file)
        if found is None:
            found = self.known[file] = (
                file != self.script
                and self.is_source(file)
                and (self.named.search(file) is not None or self.foreign.search(file) is None)
            )
        return found

    def is_source(self, file):
        """Whether this is a file that someone wrote, and not one of ours or one that code wrote for the run."""
        if not file.endswith(".py") or file.startswith(OWN):
            return False
        generated = self.temporary and file.startswith(self.temporary + os.sep)
        return not generated and "torchinductor_" not in file

    def is_extractable(self, file):
        """Whether frames of a file are of interest by themselves: of a package that is not to be kept."""
        return file != self.script and self.is_source(file) and self.kept.search(file) is None

    def number(self, file):
        return self.numbers.setdefault(file, len(self.numbers))

    def line(self, code, line):
        """Notes that a line runs; returns whether to go on with this code object."""
        self.hits[self.number(code.co_filename), line] = 1
        count = self.events[id(code)] = self.events.get(id(code), 0) + 1
        return count < LINES

    def enter(self, frame):
        """Notes a module that begins to run, and the innermost place in a module's own code that had it imported."""
        names = frame.f_globals
        name = names.get("__name__")
        module = sys.modules.get(name)
        if frame.f_code.co_name != "<module>" or module is None or getattr(module, "__dict__", None) is not names:
            return
        outer = frame.f_back
        while outer is not None:
            code = outer.f_code
            if code.co_name == "<module>" and (code.co_filename == self.script or self.is_covered(code)):
                break
            outer = outer.f_back
        if outer is not None:
            self.modules.append({
                "name": name,
                "package": names.get("__package__") or "",
                "is_package": "__path__" in names,
                "file": self.number(frame.f_code.co_filename),
                "at": [self.number(outer.f_code.co_filename), outer.f_lineno],
            })

    def noted(self):
        """All this as the evidence holds it: names of files, their texts, their lines, their modules."""
        folder = os.path.dirname(self.script) + os.sep
        files = sorted(self.numbers, key=self.numbers.get)
        names = [file[len(folder):] if file.startswith(folder) else file for file in files]
        return {
            "files": names,
            "sources": [[number, text_of(file)] for number, file in enumerate(files) if number],
            "modules": self.modules,
        }


def text_of(file):
    """The text of a file of Python; empty if it cannot be read any more."""
    import io
    import tokenize

    try:
        with open(file, "rb") as stream:
            content = stream.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except Exception:
        return ""
