import collections

shared = dict({"gain": 3, "offset": 0})
own = collections.ChainMap({}, shared)
own.update({"gain": 5})
before = shared.copy()
after = shared.copy()
assert before != after, "the update changed nothing"
