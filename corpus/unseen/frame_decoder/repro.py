"""Decoder for the serial protocol of a weather mast.

frame := 0xA5, type (1), length (2, big endian), payload, crc (2)

Bytes arrive in pieces of any size. Small recordings decode well. As soon
as a frame is split over two reads the decoder stops with a BufferError.
Windows and Linux, Python 3.8 to 3.12.
"""
import binascii
import collections
import enum
import logging
import struct
import sys
from typing import Dict, Iterator, List, NamedTuple, Tuple, Type

log = logging.getLogger("mast")

START = 0xA5
HEAD = struct.Struct(">BBH")
TAIL = struct.Struct(">H")


class Kind(enum.IntEnum):
    HELLO = 1
    WIND = 2
    CLIMATE = 3
    TEXT = 4


def checksum(data) -> int:
    return binascii.crc_hqx(data, 0xFFFF)


class Message:
    kind: Kind
    registry: Dict[int, Type["Message"]] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.registry[cls.kind] = cls

    @classmethod
    def parse(cls, payload):
        raise NotImplementedError

    def __repr__(self):
        inner = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({inner})"


class Hello(Message):
    kind = Kind.HELLO

    def __init__(self, version, serial):
        self.version = version
        self.serial = serial

    @classmethod
    def parse(cls, payload):
        major, minor, serial = struct.unpack(">BBI", payload)
        return cls(f"{major}.{minor}", f"{serial:08X}")


class Wind(Message):
    kind = Kind.WIND
    points = "N NE E SE S SW W NW".split()

    def __init__(self, speed, direction):
        self.speed = speed / 10
        self.direction = self.points[round(direction / 45) % 8]

    @classmethod
    def parse(cls, payload):
        return cls(*struct.unpack(">HH", payload))


class Climate(Message):
    kind = Kind.CLIMATE

    def __init__(self, temperature, humidity):
        self.temperature = temperature / 100
        self.humidity = humidity

    @classmethod
    def parse(cls, payload):
        return cls(*struct.unpack(">hB", payload))


class Text(Message):
    kind = Kind.TEXT

    def __init__(self, text):
        self.text = text

    @classmethod
    def parse(cls, payload):
        return cls(str(payload, "ascii", "replace").rstrip("\0"))


class Frame(NamedTuple):
    kind: int
    payload: memoryview
    good: bool


class Decoder:
    def __init__(self, limit: int = 256) -> None:
        self.buffer = bytearray()
        self.limit = limit
        self.pending: List[Frame] = []
        self.stats = collections.Counter()

    def _synchronize(self, view: memoryview, at: int) -> int:
        while at < len(view) and view[at] != START:
            self.stats["skipped"] += 1
            at += 1
        return at

    def _scan(self) -> Tuple[int, List[Frame]]:
        frames = []
        at = 0
        view = memoryview(self.buffer)
        while True:
            at = self._synchronize(view, at)
            if len(view) - at < HEAD.size:
                break
            _, kind, length = HEAD.unpack_from(view, at)
            if length > self.limit:
                at += 1
                continue
            end = at + HEAD.size + length
            if len(view) < end + TAIL.size:
                break
            payload = view[at + HEAD.size:end]
            good = TAIL.unpack_from(view, end)[0] == checksum(view[at:end])
            frames.append(Frame(kind, payload, good))
            at = end + TAIL.size
        return at, frames

    def feed(self, data: bytes) -> None:
        self.buffer += data
        used, frames = self._scan()
        self.pending.extend(frames)
        self.stats["bytes"] += used
        if used == len(self.buffer):
            self.buffer = bytearray()
        elif used:
            del self.buffer[:used]

    def messages(self) -> Iterator[Message]:
        for kind, payload, good in self.pending:
            self.stats["good" if good else "bad"] += 1
            cls = Message.registry.get(kind)
            if good and cls is not None:
                yield cls.parse(payload)
            else:
                log.warning("frame of type %d ignored", kind)
        self.pending.clear()


def encode(kind: Kind, payload: bytes) -> bytes:
    body = HEAD.pack(START, kind, len(payload)) + payload
    return body + TAIL.pack(checksum(body))


def recording() -> bytes:
    return b"".join([
        encode(Kind.HELLO, struct.pack(">BBI", 1, 4, 0xBEEF)),
        encode(Kind.WIND, struct.pack(">HH", 123, 275)),
        b"\x00\xff",
        encode(Kind.CLIMATE, struct.pack(">hB", -512, 81)),
        encode(Kind.TEXT, b"battery low\0\0"),
    ])


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start:start + size]


def main(size: int = 16) -> None:
    logging.basicConfig(stream=sys.stdout, format="%(name)s: %(message)s")
    decoder = Decoder()
    for piece in chunks(recording(), size):
        decoder.feed(piece)
        for message in decoder.messages():
            print(message)
    print(dict(decoder.stats))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
