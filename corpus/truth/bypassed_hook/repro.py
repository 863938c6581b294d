import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        hidden = self.encoder.forward(x).relu()
        return self.head(hidden)


def watch(model, names):
    kept = {}
    for name in names:
        module = model.get_submodule(name)
        module.register_forward_hook(lambda _, args, out, name=name: kept.update({name: out}))
    return kept


model = Model()
kept = watch(model, ["head", "encoder"])
model(torch.ones(3, 6))
print(kept["head"].shape)
print(kept["encoder"].shape)
