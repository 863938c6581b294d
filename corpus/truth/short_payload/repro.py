"""Reads frames: a kind, a length, and so many bytes."""
import io
import struct

HEADER = struct.Struct(">BH")


def frame(kind, payload):
    return HEADER.pack(kind, len(payload)) + payload


def reading(celsius, volts):
    return frame(2, struct.pack("<ff", celsius, volts))


class Frames:
    def __init__(self, stream):
        self.stream = stream
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        head = self.stream.read(HEADER.size)
        if not head:
            raise StopIteration
        kind, length = HEADER.unpack(head)
        self.count += 1
        return kind, self.stream.read(length)


recorded = frame(1, b"sensor 7") + reading(21.5, 3.25) + reading(22.0, 3.25)
frames = Frames(io.BytesIO(recorded[:-3]))
for kind, payload in frames:
    value = struct.unpack("<ff", payload) if kind == 2 else payload.decode()
    print(frames.count, value)
