"""What all writers of values as Python expressions share: limits, and what ends an attempt."""

NODES = 500  # parts of a value that is written out
TEXT = 4_000  # characters of a value that is written out


class Stop(Exception):
    """A value that can not be written as an expression."""


class Enough(Exception):
    """A value that is too large to be written."""
