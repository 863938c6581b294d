import torch

x = torch.ones(4, requires_grad=True).to(torch.float64)
x.sum().backward()
x.grad.norm()
