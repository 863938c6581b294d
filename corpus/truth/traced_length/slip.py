import torch

torch.ones(7).reshape(4)
