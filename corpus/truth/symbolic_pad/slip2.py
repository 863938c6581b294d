import torch

torch.ones(10).view(8)
