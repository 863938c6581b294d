"""Tags the dialect of short messages with one adapter a language.

Evaluation alone is compiled. Without fullgraph there are warnings about graph breaks in each layer.
"""
import argparse
import dataclasses

import torch
from torch import nn
from transformers import XmodConfig, XmodModel

DIALECTS = ["north", "south", "coast"]


@dataclasses.dataclass
class Settings:
    width: int = 16
    layers: int = 1
    length: int = 16
    batch: int = 2
    languages: tuple = ("en_XX",)


class Tagger(nn.Module):
    def __init__(self, settings):
        super().__init__()
        config = XmodConfig(
            vocab_size=64,
            hidden_size=settings.width,
            num_hidden_layers=settings.layers,
            num_attention_heads=2,
            intermediate_size=2 * settings.width,
            max_position_embeddings=64,
            languages=list(settings.languages),
            default_language=settings.languages[0],
        )
        self.encoder = XmodModel(config, add_pooling_layer=False)
        self.norm = nn.LayerNorm(settings.width)
        self.head = nn.Linear(settings.width, len(DIALECTS))

    def forward(self, tokens, mask):
        hidden = self.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weight).sum(1) / weight.sum(1)
        return self.head(self.norm(mean))


class Tally:
    def __init__(self):
        self.seen = {name: 0 for name in DIALECTS}

    def add(self, scores):
        for index in scores.argmax(-1).tolist():
            self.seen[DIALECTS[index]] += 1

    def __str__(self):
        return ", ".join("%s %d" % item for item in self.seen.items())


def messages(settings, count):
    generator = torch.Generator().manual_seed(3)
    for _ in range(count):
        tokens = torch.randint(2, 64, (settings.batch, settings.length), generator=generator)
        yield tokens, torch.ones_like(tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(0)
    settings = Settings()
    model = Tagger(settings).eval()
    print(sum(weight.numel() for weight in model.parameters()), "weights")
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    tally = Tally()
    with torch.no_grad():
        for tokens, mask in messages(settings, options.count):
            tally.add(compiled(tokens, mask))
    print(tally)


if __name__ == "__main__":
    main()
