import torch

torch.ones(4).clone().source
