import torch

torch.special.bessel_j0(torch.eye(4, dtype=torch.bfloat16))
