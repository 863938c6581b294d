import torch

x, w = [torch.ones(5)]
