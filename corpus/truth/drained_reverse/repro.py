"""A compiled function does not see that a reversed list is used up; one that is iterated over is."""

import torch


@torch.compile(backend="eager", fullgraph=True)
def forwards(x):
    rows = iter([2, 3])
    total = sum(rows)
    try:
        next(rows)
    except StopIteration:
        return x * total
    else:
        raise AssertionError("forwards: nothing should be left")


@torch.compile(backend="eager", fullgraph=True)
def backwards(x):
    rows = reversed([2, 3])
    total = len(list(rows))
    try:
        next(rows)
    except StopIteration:
        return x * total
    else:
        raise AssertionError("backwards: nothing should be left")


x = torch.ones(2)
print(forwards(x))
print(backwards(x))
