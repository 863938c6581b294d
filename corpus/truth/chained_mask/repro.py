import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x, mask):
        scores = self.mix(x).masked_fill(~mask[..., None], 0)
        return x + scores


torch.manual_seed(0)
layer = Attend(4)
x, mask = torch.randn(2, 3, 4), torch.ones(2, 3, dtype=torch.bool)
print(layer(x, mask).shape)
stack = nn.Sequential(nn.LayerNorm(4), layer)
print(len(stack))
print(stack(x).shape)
