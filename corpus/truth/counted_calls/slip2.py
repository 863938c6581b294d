import torch

torch._dynamo.config.error_on_recompile = True


@torch.compile(backend="eager")
def run(x):
    return x + 1


run(torch.ones(4))
run(torch.ones(4, 4))
