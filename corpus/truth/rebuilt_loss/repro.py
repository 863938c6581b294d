import torch
from torch import nn


def losses(model, batches):
    for x, y in batches:
        yield nn.functional.mse_loss(model(x), y)


def total(model, batches):
    parts = list(losses(model, batches))
    return torch.tensor(parts).mean()


torch.manual_seed(0)
model = nn.Linear(4, 1)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = total(model, batches)
print(float(loss))
optimizer.zero_grad()
loss.backward()
optimizer.step()
