import torch

class M(torch.nn.Module):
    def forward(self, x):
        return x.view(-1, 4)

torch.export.export(M(), (torch.ones(8),), dynamic_shapes=[{0: torch.export.Dim("batch")}])
