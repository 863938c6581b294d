import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width, base=100.0):
        super().__init__()
        freqs = base ** (-torch.arange(0, width, 2) / width)
        self.register_buffer("freqs", freqs, persistent=False)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        at = torch.arange(x.shape[-2], dtype=x.dtype)
        angle = at[:, None] * self.freqs
        return self.scale * torch.cat([angle.cos(), angle.sin()], -1) * x


def checksum(module, names):
    state = module.state_dict()
    return {name: float(state[name].sum()) for name in names}


module = Rotary(8)
print(module(torch.ones(3, 8)).shape)
print(checksum(module, ["scale", "freqs"]))
