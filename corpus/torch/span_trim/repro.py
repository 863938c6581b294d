# exporting our span tagger (BiLSTM + CRF-like decoder) with torch.export, torch==2.9.1
# it was scripted with torch.jit before and we want to get rid of that

import re
import string
from collections import Counter
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TEXTS = [
    "Ship 40 crates of lemons to Hamburg before 12 May .",
    "Invoice 7781 , Kowalski GmbH , EUR 1200",
    "please cancel order 993 for Lisbon",
]
TAGS = ["O", "B-QTY", "B-PLACE", "B-NUMBER", "B-DATE", "I-DATE"]


class Encoded(NamedTuple):
    words: Tensor
    shapes: Tensor
    lengths: Tensor


class Vocabulary:
    PAD, UNKNOWN = 0, 1

    def __init__(self, min_count: int = 1) -> None:
        self.min_count = min_count
        self.index: Dict[str, int] = {}

    def fit(self, texts: Iterable[str]) -> "Vocabulary":
        counts = Counter(word for text in texts for word in self.split(text))
        kept = [word for word, count in counts.most_common() if count >= self.min_count]
        self.index = {word: i for i, word in enumerate(kept, start=2)}
        return self

    @staticmethod
    def split(text: str) -> List[str]:
        return re.findall(r"\w+|[^\w\s]", text.lower())

    @staticmethod
    def shape_of(word: str) -> int:
        if word.isdigit():
            return 1 + min(len(word), 4)
        return 6 if word in string.punctuation else 7 if len(word) > 6 else 0

    def encode(self, texts: Sequence[str], width: int = 24) -> Encoded:
        words = torch.zeros(len(texts), width, dtype=torch.long)
        shapes = torch.zeros(len(texts), width, dtype=torch.long)
        lengths = torch.zeros(len(texts), dtype=torch.long)
        for row, text in enumerate(texts):
            tokens = self.split(text)[:width]
            lengths[row] = len(tokens)
            for column, token in enumerate(tokens):
                words[row, column] = self.index.get(token, self.UNKNOWN)
                shapes[row, column] = self.shape_of(token)
        return Encoded(words, shapes, lengths)

    def __len__(self) -> int:
        return len(self.index) + 2


class LockedDropout(nn.Module):
    """the same mask for each word of a text"""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        keep = x.new_empty(x.shape[0], 1, x.shape[2]).bernoulli_(1 - self.p)
        return x * keep / (1 - self.p)


class CharShape(nn.Module):
    def __init__(self, kinds: int, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(kinds, size)
        self.gate = nn.Linear(size, size)

    def forward(self, kinds: Tensor) -> Tensor:
        e = self.table(kinds)
        return e * torch.sigmoid(self.gate(e))


class Transitions(nn.Module):
    """scores of tag pairs, illegal ones are pushed down"""

    def __init__(self, tags: List[str]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(len(tags), len(tags)))
        illegal = torch.zeros(len(tags), len(tags))
        for i, left in enumerate(tags):
            for j, right in enumerate(tags):
                if right.startswith("I-") and left[2:] != right[2:]:
                    illegal[i, j] = -1e4
        self.register_buffer("illegal", illegal)

    def forward(self) -> Tensor:
        return self.weight + self.illegal


class SpanTagger(nn.Module):
    def __init__(self, words: int, tags: List[str], size: int = 32, hidden: int = 24, window: int = 3) -> None:
        super().__init__()
        self.words = nn.Embedding(words, size, padding_idx=0)
        self.shapes = CharShape(8, 8)
        self.locked = LockedDropout(0.2)
        self.mix = nn.Conv1d(size + 8, hidden, window, padding=window // 2)
        self.forward_rnn = nn.GRUCell(hidden, hidden)
        self.emit = nn.Linear(2 * hidden, len(tags))
        self.transitions = Transitions(tags)
        self.min_width = 4

    def features(self, words: Tensor, shapes: Tensor) -> Tensor:
        x = torch.cat([self.words(words), self.shapes(shapes)], dim=-1)
        x = self.mix(self.locked(x).transpose(1, 2))
        return F.relu(x).transpose(1, 2)

    def summary(self, x: Tensor, mask: Tensor) -> Tensor:
        weights = mask.to(x.dtype).unsqueeze(-1)
        return (x * weights).sum(1) / weights.sum(1).clamp_min(1)

    def forward(self, words: Tensor, shapes: Tensor, lengths: Tensor, threshold: Optional[float] = None):
        longest = lengths.max().item()
        if longest < self.min_width:
            longest = self.min_width
        words, shapes = words[:, :longest], shapes[:, :longest]
        mask = torch.arange(words.shape[1], device=words.device) < lengths.unsqueeze(1)
        x = self.features(words, shapes)
        state = self.forward_rnn(self.summary(x, mask))
        state = state.unsqueeze(1).expand(-1, x.shape[1], -1)
        scores = self.emit(torch.cat([x, state], dim=-1))
        pair = self.transitions().logsumexp(0)
        scores = (scores + pair).masked_fill(~mask.unsqueeze(-1), 0.0)
        if threshold is not None:
            scores = torch.where(scores.softmax(-1) > threshold, scores, torch.zeros_like(scores))
        return scores


def viterbi(scores: Tensor, transitions: Tensor) -> List[int]:
    best, back = scores[0], []
    for step in scores[1:]:
        total = best[:, None] + transitions
        best, origin = total.max(0)
        best = best + step
        back.append(origin)
    path = [int(best.argmax())]
    for origin in reversed(back):
        path.append(int(origin[path[-1]]))
    return path[::-1]


def pretrain(model: SpanTagger, batch: Encoded, steps: int) -> None:
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    target = batch.shapes.clamp(max=len(TAGS) - 1)
    for step in range(steps):
        scores = model(*batch)
        loss = F.cross_entropy(scores.flatten(0, 1), target[:, : scores.shape[1]].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"pretrain {step}: {loss.item():.3f}")


torch.manual_seed(8)
vocabulary = Vocabulary().fit(TEXTS)
batch = vocabulary.encode(TEXTS)
model = SpanTagger(len(vocabulary), TAGS)
pretrain(model, batch, 2)
model.eval()

with torch.no_grad():
    scores = model(*batch)
    for text, row, length in zip(TEXTS, scores, batch.lengths.tolist()):
        path = viterbi(row[:length], model.transitions())
        print(list(zip(vocabulary.split(text), (TAGS[i] for i in path)))[:4])

exported = torch.export.export(model, tuple(batch), strict=False)
print(exported.graph_signature)
torch.export.save(exported, "tagger.pt2")
