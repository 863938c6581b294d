import torch

torch._dynamo.config.error_on_recompile = True

@torch.compile(backend="eager", dynamic=False)
def f(x):
    return x + 1

f(torch.ones(2))
f(torch.ones(3))
