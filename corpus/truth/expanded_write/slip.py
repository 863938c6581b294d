import torch

torch.zeros(()).add_(torch.ones(3))
