import torch


class Groups(torch.nn.Module):
    def forward(self, x):
        return x


batch = torch.export.Dim("batch")
torch.export.export(Groups(), (torch.ones(1),), dynamic_shapes=({0: batch},))
