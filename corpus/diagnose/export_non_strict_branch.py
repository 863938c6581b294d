import torch

class Gate(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        if y.sum() > 1:
            return y
        return x

torch.export.export(Gate(), (torch.ones(2),), strict=False)
