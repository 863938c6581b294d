import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

LABELS = ["oak", "elm", "ash", "fir"]


class Reader(nn.Module):
    def __init__(self, labels, width=8):
        super().__init__()
        self.labels = len(labels)
        self.mix = nn.Linear(self.labels, width)
        self.score = nn.Linear(width, 1)

    def encode(self, trees):
        return nn.functional.one_hot(trees, num_classes=self.labels).float()

    def forward(self, trees):
        hidden = torch.relu(self.mix(self.encode(trees)))
        return self.score(hidden).squeeze(-1)


torch.manual_seed(0)
reader = Reader(LABELS).eval()
trees = torch.tensor([0, 2, 1, 1])
with torch.no_grad():
    print("scores:", reader(trees).shape)
    graph = make_fx(reader)(trees)
print(len(list(graph.graph.nodes)), "nodes")
