import torch
from torch._inductor.lowering import lowerings

lowerings[torch.ops.aten.exp.default] = lowerings[torch.ops.aten.expm1.default]

def first(x):
    return torch.sin(x) * 2

def second(x):
    y = x - x.mean()
    y = torch.exp(y)
    return y / 2

x = torch.arange(6.0)
expected = second(first(x))
found = torch.compile(second)(torch.compile(first)(x))
assert torch.allclose(found, expected), "the second function is wrong"
