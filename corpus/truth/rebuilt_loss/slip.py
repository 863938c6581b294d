import torch

x = torch.ones(())
torch.tensor([x]).mean().backward()
