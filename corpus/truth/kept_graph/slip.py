import torch
from torch import nn

x, y = torch.randn(1, 1), torch.randint(3, (1,))
loss = nn.CrossEntropyLoss()(nn.Linear(1, 4)(x), y)
loss.backward()
loss.backward()
