import torch
from torch import nn


def trainable(model):
    return (p for p in model.parameters() if p.requires_grad)


def size(parameters):
    return sum(p.numel() for p in parameters)


def setup(model, rate):
    parameters = trainable(model)
    print("training", size(parameters), "numbers")
    return torch.optim.SGD(parameters, lr=rate)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = setup(model, 0.1)
model(torch.randn(3, 4)).sum().backward()
optimizer.step()
