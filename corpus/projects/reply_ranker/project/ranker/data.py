"""Questions in batches, and the replies that come with this package."""
from dataclasses import dataclass
from pathlib import Path
from typing import List

import torch

from .vocabulary import PAD

_REPLIES = Path(__file__).parent / "replies.txt"


@dataclass
class Batch:
    texts: List[str]
    tokens: torch.Tensor
    mask: torch.Tensor

    def __len__(self):
        return len(self.texts)


def _lines(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#"):
                yield line


def load_replies():
    return list(_lines(_REPLIES))


def load_questions(path):
    return list(_lines(path))


def collate(texts, vocabulary):
    rows = [vocabulary.encode(text) for text in texts]
    longest = max(map(len, rows))
    tokens = torch.full((len(rows), longest), PAD, dtype=torch.long)
    for number, row in enumerate(rows):
        tokens[number, : len(row)] = torch.tensor(row)
    return Batch(list(texts), tokens, tokens != PAD)


def batches(texts, vocabulary, size):
    for start in range(0, len(texts), size):
        yield collate(texts[start : start + size], vocabulary)
