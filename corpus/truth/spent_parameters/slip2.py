import torch

torch.optim.SGD(torch.nn.ReLU().parameters())
