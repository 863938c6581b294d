import torch


class Attend(torch.nn.Module):
    def forward(self, x, mask):
        pass


torch.nn.Sequential(Attend())(torch.ones(2))
