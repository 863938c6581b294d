import torch

torch.compile(torch.sin)(torch._efficientzerotensor(1))
