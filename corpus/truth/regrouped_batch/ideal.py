import torch


class Groups(torch.nn.Module):
    def forward(self, x):
        return x.reshape(4, 2)


batch = torch.export.Dim("batch")
torch.export.export(Groups(), (torch.ones(8),), dynamic_shapes=({0: batch},))
