import torch

torch.vmap(lambda x: torch.zeros(()).add_(x))(torch.ones(3, 2))
