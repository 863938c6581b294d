import torch

torch.testing.assert_close(3.0, 4.0)
