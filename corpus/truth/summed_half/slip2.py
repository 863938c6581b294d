import torch

x = torch.full((2,), 0.1)
torch.testing.assert_close(float(x.half().cumsum(0)[-1]), float(x.sum()))
