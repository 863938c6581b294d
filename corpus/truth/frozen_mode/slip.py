import torch
from torch.utils.checkpoint import checkpoint

sizes = [4, 2]


def run(x):
    return x[: sizes.pop()].tanh()


x = torch.ones(4, requires_grad=True)
checkpoint(run, x, use_reentrant=False).sum().backward()
