"""The same names on all versions of Python that the depots have."""
import sys

if sys.version_info >= (3, 9):
    from functools import cache as cached
else:
    from functools import lru_cache

    def cached(function):
        return lru_cache(maxsize=None)(function)

try:
    import zlib
except ImportError:
    zlib = None

HAS_ZLIB = zlib is not None


def without_prefix(text, prefix):
    """`str.removeprefix`, which came with Python 3.9."""
    if text.startswith(prefix):
        return text[len(prefix):]
    return text
