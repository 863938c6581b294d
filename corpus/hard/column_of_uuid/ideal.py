import collections
collections.namedtuple("", [])
