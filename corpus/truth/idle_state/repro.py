import torch
from torch import nn


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 2)
        self.spare = nn.Linear(3, 2)

    def forward(self, x):
        return self.used(x)


def moments(model, optimizer):
    found = {}
    for name, parameter in model.named_parameters():
        state = optimizer.state[parameter]
        found[name] = float(state["exp_avg"].norm())
    return found


torch.manual_seed(0)
model = Twin()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.randn(4, 3)).sum().backward()
optimizer.step()
print(moments(model.used, optimizer))
print(moments(model, optimizer))
