import torch


@torch.compile(backend="eager")
def run(x):
    return torch.cond(x.sum() > 0, torch.neg, lambda x: undefined, (x,))


run(torch.ones(4))
