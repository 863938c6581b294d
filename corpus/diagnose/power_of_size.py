import torch

def f(x):
    y = x * 3 + 1
    n = x.shape[0]
    z = torch.sin(y)
    w = z + 2 ** n
    return w.sum()

x = torch.ones(40)
torch.testing.assert_close(torch.compile(f, dynamic=True)(x), f(x))
