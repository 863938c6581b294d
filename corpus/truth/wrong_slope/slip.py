import torch

x = torch.ones(4, requires_grad=True)
torch.autograd.gradcheck(torch.exp, x)
