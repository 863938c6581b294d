import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, x):
        hidden = self.project(x)
        return hidden * torch.special.bessel_j0(hidden)


torch.manual_seed(0)
model = Waves(4)
x = torch.randn(10, 4)
print(model(x).dtype)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print(model(x).dtype)
