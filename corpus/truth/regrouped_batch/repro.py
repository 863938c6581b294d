import torch
from torch import nn


class Groups(nn.Module):
    def __init__(self, groups=4):
        super().__init__()
        self.groups = groups
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        clips = x.reshape(self.groups, 2, 6)
        return self.norm(clips).mean(1)


model = Groups()
x = torch.randn(8, 6)
print(model(x).shape)
batch = torch.export.Dim("batch", min=2, max=64)
exported = torch.export.export(model, (x,), dynamic_shapes={"x": {0: batch}})
print(exported.module()(torch.randn(8, 6)).shape)
