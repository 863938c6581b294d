"""Moments of a frozen layer are not restored."""

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)


def make():
    torch.manual_seed(1)
    layers = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 1, bias=False))
    return layers, torch.optim.Adam(layers.parameters(), lr=0.1)


def fit(layers, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        layers(torch.ones(4, 3)).mean().backward()
        optimizer.step()
    layers[0].weight.requires_grad_(False)


layers, optimizer = make()
fit(layers, optimizer, 2)
saved = get_optimizer_state_dict(layers, optimizer)
print("saved:", sorted(saved["state"]))

again, its_optimizer = make()
again[0].weight.requires_grad_(False)
set_optimizer_state_dict(again, its_optimizer, saved)
restored = get_optimizer_state_dict(again, its_optimizer)
print("restored:", sorted(restored["state"]))

gone = sorted(set(saved["state"]) - set(restored["state"]))
assert not gone, f"moments are gone: {gone}"
