import torch

chances = torch.softmax(torch.randn(1, 12) / 0, dim=-1)
torch.multinomial(chances, num_samples=1)
