"""Counts the operations of a small ranking model by tracing it."""
import collections

import torch
from torch import fx, nn


class Mix(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.left = nn.Linear(width, 4)
        self.right = nn.Linear(width, 4)

    def forward(self, query, item):
        return (torch.relu(self.left(query)) * self.right(item)).sum(-1)


class Logged(nn.Module):
    """Passes everything on, and keeps the shapes."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.shapes = []

    def forward(self, *inputs):
        result = self.inner(*inputs)
        self.shapes.append(tuple(result.shape))
        return result


def operations(model):
    graph = fx.symbolic_trace(model).graph
    return collections.Counter(node.op for node in graph.nodes)


torch.manual_seed(3)
mix = Mix(6)
logged = Logged(mix)
print(logged(torch.randn(2, 6), torch.randn(2, 6)), logged.shapes)
print("plain", dict(operations(mix)))
print("logged", dict(operations(logged)))
