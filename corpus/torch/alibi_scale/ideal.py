import torch

f = lambda x: x * 2 ** len(x)
x = torch.ones(40)
torch.testing.assert_close(torch.compile(f, dynamic=True)(x), f(x))
