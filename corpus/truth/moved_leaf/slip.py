import torch

torch.ones(4).grad.norm()
