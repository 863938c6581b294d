import torch

x = torch.ones(2, requires_grad=True)
torch.nn.functional.mse_loss(x, torch.ones(2, dtype=torch.double)).backward()
