import torch
from torch._inductor.lowering import lowerings

lowerings[torch.ops.aten.tanh.default] = lowerings[torch.ops.aten.sigmoid.default]

def f(x, w):
    h = x @ w
    h = torch.relu(h) + 1
    h = torch.tanh(h)
    return h.sum(dim=-1)

x, w = torch.ones(4, 3), torch.full((3, 5), 0.2)
torch.testing.assert_close(torch.compile(f)(x, w), f(x, w))
