"""What is done to the tokens of a question as a whole."""
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Truncate(nn.Module):
    """Leaves out the tokens after the first few."""

    def __init__(self, longest):
        super().__init__()
        self.longest = longest

    def extra_repr(self):
        return f"longest={self.longest}"

    def forward(self, tokens, mask):
        length = tokens.size(1)
        if length > self.longest:
            logger.info("a batch of %d tokens is cut off after %d", length, self.longest)
            tokens, mask = tokens[:, : self.longest], mask[:, : self.longest]
        return tokens, mask


class MeanPool(nn.Module):
    """The mean over the tokens that are no padding."""

    def forward(self, x, mask):
        weights = mask.unsqueeze(-1).to(x.dtype)
        return (x * weights).sum(1) / torch.clamp(weights.sum(1), min=1.0)
