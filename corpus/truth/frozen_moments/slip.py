import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict


def make():
    torch.manual_seed(1)
    layers = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 1, bias=False))
    return layers, torch.optim.Adam(layers.parameters(), lr=0.1)


layers, optimizer = make()
for _ in range(1):
    optimizer.zero_grad()
    layers(torch.ones(4, 3)).mean().backward()
    optimizer.step()
layers[0].weight.requires_grad_(False)
saved = get_optimizer_state_dict(layers, optimizer)
again, its_optimizer = make()
again[0].weight.requires_grad_(False)
gone = sorted(
    set(saved["state"]) - set(get_optimizer_state_dict(again, its_optimizer)["state"])
)
assert not gone, f"moments are gone: {gone}"
