"""One layer of an encoder."""
from torch import nn
from torch.nn import functional as F

from . import attention

ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}


class FeedForward(nn.Module):
    def __init__(self, config, factor=2):
        super().__init__()
        self.inner = nn.Linear(config.width, factor * config.width)
        self.outer = nn.Linear(factor * config.width, config.width)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x):
        return self.outer(self.activation(self.inner(x)))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.before = nn.LayerNorm(config.width)
        self.attention = attention.SelfAttention(config)
        self.between = nn.LayerNorm(config.width)
        self.feed_forward = FeedForward(config)

    def forward(self, x, mask):
        x = x + self.attention(self.before(x), mask)
        return x + self.feed_forward(self.between(x))
