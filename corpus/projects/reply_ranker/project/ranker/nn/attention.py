"""Attention of each token to all others."""
import math

import torch
from torch import nn

__all__ = ["SelfAttention", "scaled"]


def scaled(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.projection = nn.Linear(config.width, 3 * config.width)
        self.output = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        query, key, value = map(self.split, self.projection(x).chunk(3, dim=-1))
        scores = scaled(query, key)
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        mixed = self.dropout(torch.softmax(scores, dim=-1)) @ value
        return self.output(mixed.transpose(1, 2).flatten(2))
