"""The layer."""
from torch import nn

from . import registry
from .functional import merge_heads, mix, repeat_groups, split_heads


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        narrow = config.groups * config.head_width
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, narrow)
        self.value = nn.Linear(config.width, narrow)
        self.output = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, mask=None):
        config = self.config
        query = split_heads(self.query(x), config.heads)
        key = repeat_groups(split_heads(self.key(x), config.groups), config.shared or 1)
        value = repeat_groups(split_heads(self.value(x), config.groups), config.shared or 1)
        scores = registry.named(config.scores)(query, key)
        return self.dropout(self.output(merge_heads(mix(scores, value, mask))))
