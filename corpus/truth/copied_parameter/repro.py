import copy

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        for parameter in self.parameters():
            parameter.no_decay = True

    def forward(self, x):
        return x * self.gain + self.bias


def groups(model):
    plain = [p for p in model.parameters() if not p.no_decay]
    return [{"params": plain}, {"params": [p for p in model.parameters() if p.no_decay]}]


model = Scale(8)
print([len(group["params"]) for group in groups(model)])
average = copy.deepcopy(model)
print([len(group["params"]) for group in groups(average)])
