import json
import re
import subprocess
import sys
import tempfile


def say(status, said):
    """Writes down how a child failed: its status and the last line of what it said, without numbers and paths."""
    if status:
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said or ""
        last = (said.strip().splitlines() or [""])[-1]
        last = re.sub(r"\d+", "0", re.sub(r"[^\s'\"]*/[^\s'\"]*", "/", last))
        found = json.dumps({"status": ["int", str(status)], "said": ["str", last]})
        sys.__stderr__.write("%sreceived child%s%s%s\n" % (chr(30), chr(31), found, chr(30)))


def keep_said(child, arguments, named):
    """What a child says on its parent's standard error, a file keeps until it ends."""
    if len(arguments) < 6 and named.get("stderr") is None:
        child._minrepro_said = named["stderr"] = tempfile.TemporaryFile()


def say_end(child):
    """Passes on what a child said, unless it was read already, and writes down how it failed."""
    kept = getattr(child, "_minrepro_said", None)
    said = b""
    if kept is not None:
        kept.seek(0)
        said = kept.read()
        sys.__stderr__.write(said.decode("utf-8", "replace"))
    if child.stderr is None:
        say(child.returncode, said)


def beginning(function):
    def call(self, *arguments, **named):
        keep_said(self, arguments, named)
        return function(self, *arguments, **named)

    return call


def ending(function):
    def call(self, *arguments, **named):
        function(self, *arguments, **named)
        say_end(self)

    return call


def talking(function):
    def call(self, *arguments, **named):
        told = function(self, *arguments, **named)
        if self.stderr is not None:
            say(self.returncode, told[1])
        return told

    return call


child = subprocess.Popen
child.__init__ = beginning(child.__init__)
child._handle_exitstatus = ending(child._handle_exitstatus)
child.communicate = talking(child.communicate)
