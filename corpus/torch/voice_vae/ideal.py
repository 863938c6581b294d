import torch

x = torch.ones(1, requires_grad=True).exp()
x += x
x.backward()
