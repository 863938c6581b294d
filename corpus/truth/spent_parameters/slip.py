import torch

torch.optim.SGD([])
