import torch


@torch.compile(backend="eager", fullgraph=True)
def train(x):
    torch._dynamo.disable()


train(torch.ones(4))
