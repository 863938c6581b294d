import torch


@torch.compile(backend="eager", fullgraph=True)
def clip(x):
    if x:
        pass


clip(torch.ones(5))
