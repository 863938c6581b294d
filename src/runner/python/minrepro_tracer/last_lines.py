"""Keeps the lines that a script is at in a mapping that the kernel writes to a file, however the process ends."""

DEEPEST = 500  # frames of a stack that is kept: a deeper one is that of a recursion, and walking it takes long
SIZE = 4 * (DEEPEST + 1)


class LastLines:
    def __init__(self, path):
        import mmap
        import struct

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
        self.write("%dI" % (len(lines) + 1), self.mapping, 0, len(lines), *lines)
