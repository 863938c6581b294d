import torch

torch.nn.Linear(4, 2)(torch.randn(1, 3))
