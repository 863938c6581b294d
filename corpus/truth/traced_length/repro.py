import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, 3)

    def forward(self, x):
        count = int(x.shape[0] * x.shape[1])
        flat = self.project(x).reshape(count, 3)
        return flat.view(x.shape[0], x.shape[1], 3).mean(1)


torch.manual_seed(0)
model = Pool(5).eval()
short, long = torch.randn(2, 4, 5), torch.randn(2, 7, 5)
print(model(short).shape, model(long).shape)
traced = torch.jit.trace(model, short, check_trace=False)
print(traced(short).shape)
print(traced(long).shape)
