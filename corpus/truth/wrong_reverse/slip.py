import torch

x = torch.ones(6) / 3
torch.testing.assert_close(x, x.half().float())
