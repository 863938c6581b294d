import torch
from torch.fx.experimental.proxy_tensor import make_fx


def windows(x):
    return x.view(x.shape[0])


graph = make_fx(windows)(torch.ones(8))
graph(torch.ones(10))
