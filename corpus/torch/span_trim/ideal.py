import torch

class M(torch.nn.Module):
    def forward(self, x):
        if x.item() < 4:
            pass

torch.export.export(M(), (torch.ones(1),))
