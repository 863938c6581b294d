"""Keeps the lines that a script is at, and when it last came to a new one, in a mapping that the kernel writes to a file,
however the process ends."""

DEEPEST = 500  # frames of a stack that is kept: a deeper one is that of a recursion, and walking it takes long
TIME = 8  # bytes before the lines
SIZE = TIME + 4 * (DEEPEST + 1)


class LastLines:
    def __init__(self, path):
        import mmap
        import struct
        import time

        self.clock = lambda: time.monotonic() - kept_waiting()
        self.began = self.clock() - time.process_time()
        self.write = struct.pack_into
        with open(path, "w+b") as file:
            file.truncate(SIZE)
            self.mapping = mmap.mmap(file.fileno(), SIZE)

    def keep(self, frame, is_own):
        """Keeps the lines of the script's own frames from one outwards; the last stack is the one that counts."""
        lines = []
        deepest = DEEPEST
        while frame is not None and deepest:
            if is_own(frame.f_code):
                lines.append(frame.f_lineno)
            frame = frame.f_back
            deepest -= 1
        if frame is not None:
            lines = []
        self.write("%dI" % (len(lines) + 1), self.mapping, TIME, len(lines), *lines)

    def come_to_new_line(self):
        """Keeps for how long the process has been running, but for the time in which others had the processors."""
        self.write("d", self.mapping, 0, self.clock() - self.began)


def kept_waiting():
    """For how long others had the processors that the main thread wanted, in seconds, as far as the system says."""
    try:
        with open("/proc/self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0
