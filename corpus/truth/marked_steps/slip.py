import torch


@torch.compile(backend="eager")
def blend(x):
    assert x.shape[0] == 4


x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
blend(x)
