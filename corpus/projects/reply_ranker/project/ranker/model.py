"""The model, and how one is built."""
from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

import torch
from torch import nn as torch_nn

from . import nn
from .vocabulary import PAD, Vocabulary

if TYPE_CHECKING:
    from .config import ModelConfig


class ReplyRanker(torch_nn.Module):
    def __init__(self, config: ModelConfig, words: int):
        super().__init__()
        self.config = config
        self.truncate = nn.Truncate(config.longest)
        self.embedding = torch_nn.Embedding(words, config.width, padding_idx=PAD)
        self.positions = torch_nn.Parameter(torch.zeros(config.longest, config.width))
        self.blocks = torch_nn.ModuleList(nn.Block(config) for _ in range(config.layers))
        self.pool = nn.MeanPool()
        self.head = torch_nn.Linear(config.width, config.replies)
        self.reset()

    def reset(self) -> None:
        torch_nn.init.normal_(self.positions, std=0.02)
        torch_nn.init.zeros_(self.head.bias)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        tokens, mask = self.truncate(tokens, mask)
        x = self.embedding(tokens) + self.positions[: tokens.size(1)]
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.pool(x, mask))


def build(config: ModelConfig, texts: Iterable[str]) -> tuple[ReplyRanker, Vocabulary]:
    vocabulary = Vocabulary(texts)
    return ReplyRanker(config, len(vocabulary)), vocabulary
