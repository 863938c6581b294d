import torch
from torch.fx.experimental.proxy_tensor import make_fx


def windows(x):
    return x.view(int(x.shape[0]))


graph = make_fx(windows, tracing_mode="symbolic")(torch.ones(8))
graph(torch.ones(10))
