"""A head whose second layer is optional, exported with it and without."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.squeeze = nn.Linear(width, classes)
        self.scale = nn.Linear(classes, classes)

    def is_scaled(self):
        return self.scale is not None

    def forward(self, features):
        scores = self.squeeze(features)
        if self.is_scaled():
            scores = self.scale(scores)
        return scores.softmax(dim=-1)


def exported(head, example):
    scripted = torch.jit.script(head)
    return scripted(example).sum(dim=-1)


torch.manual_seed(3)
head = Head(8, 4).eval()
batch = torch.rand(2, 8)
print(exported(head, batch))
head.scale = None
print(head(batch).shape)
print(exported(head, batch))
