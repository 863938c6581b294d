import torch
from torch import nn
from typing import Optional


class Masked(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mix = nn.Linear(size, size)

    def forward(self, x, lengths: Optional[torch.Tensor] = None):
        has_lengths = lengths is not None
        y = self.mix(x)
        if has_lengths:
            steps = torch.arange(x.shape[1])
            y = y * torch.lt(steps[None, :], torch.unsqueeze(lengths, 1)).unsqueeze(-1)
        return y.sum(1)


torch.manual_seed(0)
model = Masked(3)
x, lengths = torch.randn(2, 4, 3), torch.tensor([4, 2])
print(model(x, lengths).shape, model(x).shape)
scripted = torch.jit.script(model)
print(scripted(x, lengths).shape)
