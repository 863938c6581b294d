import torch

@torch.compiler.disable
def scale(x):
    return x * 2

class Scaled(torch.nn.Module):
    def forward(self, x):
        y = scale(x)
        return y + 1

torch.export.export(Scaled(), (torch.ones(2),), strict=True)
