import torch


@torch.compile(backend="eager")
def project(x, weight):
    return x @ weight


project(torch.ones(3, 4), torch.ones(6, 2))
