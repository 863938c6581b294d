import torch
from torch.func import vmap


def histogram(values, weights):
    counts = torch.zeros(4)
    for at in range(4):
        hit = (values.long() == at).to(weights.dtype)
        counts[at] += (hit * weights).sum()
    return counts


def loop(values, weights):
    return torch.stack([histogram(v, w) for v, w in zip(values, weights)])


torch.manual_seed(0)
values, weights = torch.randint(0, 4, (3, 8)), torch.rand(3, 8)
print(loop(values, weights).sum())
print(vmap(histogram)(values, weights).sum())
