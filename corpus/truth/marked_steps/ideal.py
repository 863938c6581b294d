import torch


@torch.compile(backend="eager")
def blend(x):
    return [row for row in x]


x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
blend(x)
