import torch
from torch import fx, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def mark(graph):
    for number, node in enumerate(graph.nodes):
        node.meta["stage"] = number // 3


def stages(module):
    return [(node.name, node.meta["stage"]) for node in module.graph.nodes]


module = fx.symbolic_trace(Net())
mark(module.graph)
print(stages(module))
again = fx.symbolic_trace(module)
print(stages(again))
