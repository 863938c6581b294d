import torch


@torch.compile(backend="eager", fullgraph=True)
def backwards():
    try:
        next([2])
    except:
        pass
    else:
        raise AssertionError("backwards: nothing should be left")


backwards()
