import torch

class M(torch.nn.Module):
    def forward(self, x):
        if x:
            pass

torch.export.export(M(), (torch.ones(1),))
