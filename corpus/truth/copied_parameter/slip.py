import torch

torch.nn.Parameter(torch.ones(8)).no_decay
