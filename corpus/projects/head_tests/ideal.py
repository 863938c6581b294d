import torch

torch.ones(2, 2).t().view(4)
