import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 8))

    def forward(self, x):
        self.keys = 0.9 * self.keys + 0.1 * x.mean(0)
        return x @ self.keys.T


memory = Memory()
for step in range(2):
    x, y = torch.randn(7, 6), torch.randint(0, 3, (7,))
    loss = nn.CrossEntropyLoss()(memory(torch.relu(nn.Linear(6, 8)(x))), y)
    loss.backward()
