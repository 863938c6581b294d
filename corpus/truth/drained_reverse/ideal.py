import torch


@torch.compile(backend="eager", fullgraph=True)
def backwards():
    rows = reversed([2])
    list(rows)
    try:
        next(rows)
    except StopIteration:
        pass
    else:
        raise AssertionError("backwards: nothing should be left")


backwards()
