import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Crop(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(6, 6)

    def forward(self, x):
        kept = x[:2] if self.training else x
        return torch.tanh(self.mix(kept))


def step(model, x, saving):
    model.train()
    out = checkpoint(model, x, use_reentrant=False) if saving else model(x)
    model.eval()
    out.sum().backward()
    return x.grad.abs().sum()


torch.manual_seed(0)
model = Crop()
x = torch.randn(4, 6, requires_grad=True)
print(step(model, x, False) > 0)
print(step(model, x, True) > 0)
