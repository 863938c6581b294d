import torch

x = torch.ones((), requires_grad=True)
torch.tensor([x]).mean().backward()
