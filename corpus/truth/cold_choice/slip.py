import torch

torch.manual_seed(0)
torch.multinomial(torch.randn(2), num_samples=1)
