"""Which tokens see which."""
import torch


def causal(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def padding(lengths, longest):
    return torch.arange(longest) < lengths[:, None]
