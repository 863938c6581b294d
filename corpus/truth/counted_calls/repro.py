import torch
from torch import nn


class Warm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5
        self.mix = nn.Linear(4, 4)

    def forward(self, x):
        self.scale = min(self.scale + 0.125, 1.0)
        return self.mix(x) * self.scale


torch._dynamo.config.error_on_recompile = True
torch.manual_seed(0)
model = Warm()
x = torch.randn(2, 4)
print([float(model(x).norm()) > 0 for _ in range(2)])
compiled = torch.compile(model, backend="eager")
for step in range(3):
    print(step, compiled(x).shape)
