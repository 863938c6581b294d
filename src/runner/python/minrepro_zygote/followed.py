"""The imports of a run that is still running, read while it writes them down."""

import os
import stat

from .environment import changed
from .memory import tidy

PAUSE = 0.005  # seconds until it is looked again for what a run has imported

MOST = 8 << 20  # bytes of imports that are read

MANY = 100000  # objects among which it takes long to look for garbage


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
        # The run may put something else in its place: nothing is waited for, and only so much is read.
        opened = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            return
        with open(opened, "rb") as file:
            while file.tell() < MOST:
                *lines, rest = (rest + file.read(MOST)).split(b"\n")
                for line in lines:
                    if not line:
                        return
                    yield line
                if not lines and self.gc.get_count()[0] > MANY:
                    tidy(self.gc)
                elif not lines:
                    self.time.sleep(PAUSE)
                    self.waited += PAUSE
