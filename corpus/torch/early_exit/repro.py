"""Early-exit text classifier.

The idea is that easy inputs leave after the first blocks. In eager mode it is 1.7x faster than the
full model. I wanted to see what torch.compile adds, with fullgraph=True as recommended, and got
torch._dynamo.exc.Unsupported. Without fullgraph it runs but is slower than eager.
"""

from __future__ import annotations

import contextlib
import os
import time
import typing as t
from dataclasses import dataclass

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1234)
torch.set_float32_matmul_precision("high")

SENTENCES = [
    "the battery died after two days",
    "works as advertised, would buy again",
    "arrived late and the box was open",
    "love it",
]


@dataclass(frozen=True)
class ExitConfig:
    vocab_size: int = 512
    hidden_size: int = 96
    intermediate_size: int = 384
    num_heads: int = 6
    num_layers: int = 4
    max_positions: int = 32
    num_labels: int = 3
    layer_norm_eps: float = 1e-6
    dropout: float = 0.1
    exit_layers: tuple[int, ...] = (1, 2)
    threshold: float = 0.9
    dtype: str = "float32"

    def __post_init__(self):
        assert self.hidden_size % self.num_heads == 0


class HashTokenizer:
    """No download needed: words are hashed into the vocabulary."""

    pad_id = 0

    def __init__(self, config: ExitConfig):
        self.size = config.vocab_size
        self.length = config.max_positions

    def encode(self, text: str) -> list[int]:
        ids = [1 + sum(ord(c) * 31**i for i, c in enumerate(word)) % (self.size - 1) for word in text.split()]
        return ids[: self.length]

    def __call__(self, texts: t.Sequence[str]) -> dict[str, torch.Tensor]:
        rows = [self.encode(text) for text in texts]
        longest = max(map(len, rows))
        padded = [row + [self.pad_id] * (longest - len(row)) for row in rows]
        ids = torch.tensor(padded)
        return {"input_ids": ids, "attention_mask": ids.ne(self.pad_id)}


class Embeddings(nn.Module):
    def __init__(self, config: ExitConfig):
        super().__init__()
        self.word = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.position = nn.Embedding(config.max_positions, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("position_ids", torch.arange(config.max_positions), persistent=False)

    def forward(self, input_ids):
        positions = self.position(self.position_ids[: input_ids.shape[1]])
        return self.dropout(self.norm(self.word(input_ids) + positions))


class ExitHead(nn.Module):
    def __init__(self, config: ExitConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.out = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, hidden, mask):
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-6)
        return self.out(torch.tanh(self.dense(pooled)))


class EarlyExitClassifier(nn.Module):
    def __init__(self, config: ExitConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                config.hidden_size,
                config.num_heads,
                config.intermediate_size,
                dropout=config.dropout,
                activation="gelu",
                batch_first=True,
                norm_first=True,
            )
            for _ in range(config.num_layers)
        )
        self.exits = nn.ModuleDict({str(i): ExitHead(config) for i in config.exit_layers})
        self.final = ExitHead(config)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)

    def confidence(self, logits):
        probabilities = F.softmax(logits.float(), dim=-1)
        return probabilities.amax(dim=-1)

    def forward(self, input_ids, attention_mask=None, labels=None, return_dict=False):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids, dtype=torch.bool)
        hidden = self.embeddings(input_ids)
        logits = None
        used = 0
        for number, layer in enumerate(self.layers):
            hidden = layer(hidden, src_key_padding_mask=~attention_mask)
            used = number + 1
            if number in self.config.exit_layers:
                candidate = self.exits[str(number)](hidden, attention_mask)
                if self.confidence(candidate).min() > self.config.threshold:
                    logits = candidate
                    break
        if logits is None:
            logits = self.final(hidden, attention_mask)
        loss = F.cross_entropy(logits, labels) if labels is not None else None
        if return_dict:
            return {"loss": loss, "logits": logits, "layers": used}
        return loss, logits, used


@contextlib.contextmanager
def timed(name, results):
    start = time.perf_counter()
    try:
        yield
    finally:
        results[name] = time.perf_counter() - start


def benchmark(model, batch, warmup=1, repeat=3):
    with torch.inference_mode():
        for _ in range(warmup):
            model(**batch)
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            model(**batch)
            best = min(best, time.perf_counter() - start)
    return best


def main():
    config = ExitConfig()
    tokenizer = HashTokenizer(config)
    model = EarlyExitClassifier(config).eval()
    batch = tokenizer(SENTENCES * 4)
    results = {}
    with timed("eager", results):
        eager = benchmark(model, batch)
    print(f"eager    {1000 * eager:8.2f} ms, {sum(p.numel() for p in model.parameters()):,} parameters")
    compiled = torch.compile(model, mode="reduce-overhead", fullgraph=True, dynamic=False)
    with timed("compiled", results):
        fast = benchmark(compiled, batch)
    print(f"compiled {1000 * fast:8.2f} ms, x{eager / fast:.2f}")
    print(results)


if __name__ == "__main__":
    main()
