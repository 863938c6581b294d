import torch

def log(x):
    print(x)

@torch.compile(backend="eager", fullgraph=True)
def f(x):
    y = x + 1
    log(y)
    return y

f(torch.ones(2))
