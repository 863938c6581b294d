import torch
from torch import nn


class Clip(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.mix = nn.Linear(5, 5)

    def forward(self, x):
        y = self.mix(x)
        norm = y.norm()
        if norm > self.limit:
            y = y * (self.limit / norm)
        return y


torch.manual_seed(0)
model = Clip(1.0)
x = torch.randn(3, 5)
print(model(x).norm())
whole = torch.compile(model, backend="eager", fullgraph=True)
print(whole(x).norm())
