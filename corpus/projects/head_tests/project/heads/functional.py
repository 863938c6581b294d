"""What layers do to tensors, without parameters."""
import torch

__all__ = ["merge_heads", "mix", "repeat_groups", "split_heads"]


def split_heads(x, heads):
    """(batch, length, width) -> (batch, heads, length, width of a head)"""
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(x):
    """(batch, heads, length, width of a head) -> (batch, length, width)"""
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).view(batch, length, heads * width)


def repeat_groups(x, times):
    return x.repeat_interleave(times, dim=1) if times > 1 else x


def mix(scores, value, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value
