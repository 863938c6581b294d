"""Limits of values that are written as Python expressions, and the exceptions that end an attempt."""

NODES = 500  # parts of a value that is written out
PARTS = 20  # tensors and modules that a value holds which are told
TEXT = 4_000  # characters of a value that is written out


class Stop(Exception):
    """A value that cannot be written as an expression."""


class Enough(Exception):
    """A value that is too large to be written."""
