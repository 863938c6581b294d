"""Tensors for tests."""
import torch


def make_tensor(shape, *, low=0.0, high=1.0, dtype=torch.float32, seed=None, requires_grad=False):
    """A tensor of random numbers in a range."""
    generator = None
    if seed is not None:
        generator = torch.Generator().manual_seed(seed)
    values = torch.rand(shape, generator=generator, dtype=torch.float64)
    tensor = (values * (high - low) + low).to(dtype)
    return tensor.requires_grad_(requires_grad)
