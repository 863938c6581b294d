import collections

shared = dict({"gain": 3, "offset": 0})
own = collections.ChainMap({}, shared)
before = shared.copy()
own.update({"gain": 5})
after = shared.copy()
assert before != after, "the update changed nothing"
