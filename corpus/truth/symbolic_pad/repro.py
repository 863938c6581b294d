import torch
from torch.fx.experimental.proxy_tensor import make_fx


def windows(x):
    count = int(x.shape[0]) // 2
    kept = x[: count * 2]
    return kept.view(count, 2).amax(1)


def check(graph, sizes):
    for size in sizes:
        x = torch.arange(float(size))
        found = graph(x)
        print(size, found.shape, torch.equal(found, windows(x)))


x = torch.arange(9.0)
graph = make_fx(windows, tracing_mode="symbolic")(x)
check(windows, [9, 6])
check(graph, [9, 6])
