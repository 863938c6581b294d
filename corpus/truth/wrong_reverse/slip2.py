import torch

torch.testing.assert_close(torch.zeros(6), torch.ones(6))
