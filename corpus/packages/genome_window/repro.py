"""Embeds windows of a genome with sparse attention and clusters them by their first axis."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import BigBirdConfig, BigBirdModel

BASES = {"A": 2, "C": 3, "G": 4, "T": 5}


class Windows(Dataset):
    def __init__(self, genome, size, step):
        self.genome = genome
        self.starts = list(range(0, len(genome) - size + 1, step))
        self.size = size

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index):
        start = self.starts[index]
        window = self.genome[start : start + self.size]
        return torch.tensor([BASES[base] for base in window])


class Embedder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = BigBirdModel(
            BigBirdConfig(
                vocab_size=8,
                hidden_size=width,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=32,
                max_position_embeddings=64,
                attention_type="block_sparse",
                block_size=2,
                num_random_blocks=1,
            ),
            add_pooling_layer=False,
        )
        self.project = nn.Linear(width, 2)

    def forward(self, window):
        hidden = self.encoder(input_ids=window).last_hidden_state
        return self.project(hidden.mean(dim=1))


def genome(length):
    state, letters = 7, []
    for _ in range(length):
        state = (state * 1103515245 + 12345) % 2**31
        letters.append("ACGT"[state >> 16 & 3])
    return "".join(letters)


def clusters(points):
    found = {}
    for index, (x, y) in enumerate(points):
        found.setdefault(math.floor(x), []).append((index, round(y, 2)))
    return found


def main():
    torch.manual_seed(1)
    loader = DataLoader(Windows(genome(128), size=32, step=16), batch_size=2)
    embed = torch.compile(Embedder(16).eval(), backend="eager", fullgraph=True)
    points = []
    with torch.inference_mode():
        for batch in loader:
            points += embed(batch).tolist()
    for key, members in sorted(clusters(points).items()):
        print(key, members)


if __name__ == "__main__":
    main()
