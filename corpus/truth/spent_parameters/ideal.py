import torch

parameters = torch.nn.Linear(4, 8).parameters()
list(parameters)
torch.optim.SGD(parameters)
