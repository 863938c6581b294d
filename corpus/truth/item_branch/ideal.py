import torch


@torch.compile(backend="eager", fullgraph=True)
def clip(x):
    if x.norm() > 1:
        pass


clip(torch.ones(5))
