"""Decodes frames and warns of those that do not fit."""
import contextlib
import warnings


class Decoder:
    def __init__(self, size):
        self.size = size
        self.dropped = []

    def feed(self, frame):
        if len(frame) > self.size:
            warnings.warn("the buffer is too small for %d bytes" % len(frame))
            self.dropped.append(frame)
            return None
        return frame[::-1]


@contextlib.contextmanager
def strictly():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def main():
    decoder = Decoder(4)
    print(decoder.feed(b"abcdef"))
    print(decoder.feed(b"ab"))
    with strictly():
        decoder.feed(b"0123456")
    raise SystemExit(1)


main()
