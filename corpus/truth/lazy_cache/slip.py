import torch
from torch.utils.checkpoint import checkpoint

steps = [1, 2]


def run(x):
    for _ in range(steps.pop()):
        x = x.sin()
    return x


x = torch.ones(5, requires_grad=True)
checkpoint(run, x, use_reentrant=False).sum().backward()
