import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Bias(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.slope = nn.Parameter(torch.linspace(0.1, 1, heads))
        self.table = None

    def forward(self, scores):
        if self.table is None:
            steps = torch.arange(scores.shape[-1], dtype=scores.dtype)
            self.table = torch.exp(-self.slope[:, None] * steps)
        return torch.sin(scores * self.table)


torch.manual_seed(0)
plain, saving = Bias(2), Bias(2)
scores = torch.randn(2, 5, requires_grad=True)
plain(scores).sum().backward()
print(scores.grad.norm() > 0)
checkpoint(saving, scores, use_reentrant=False).sum().backward()
