import torch
from torch.utils.checkpoint import checkpoint

cache = []


def run(x):
    if not cache:
        cache.append(x.exp())
    return x * cache[0]


x = torch.ones(5, requires_grad=True)
checkpoint(run, x, use_reentrant=False).sum().backward()
