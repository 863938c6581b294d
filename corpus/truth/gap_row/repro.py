import torch


def complete(rows):
    return torch.isfinite(rows).all(dim=1)


readings = torch.rand(5, 3)
readings[4].fill_(float("nan"))
sensors = torch.nn.Linear(3, 2)
kept = complete(readings)
print(kept.sum().item(), "rows of", len(readings))

levels = sensors(readings)
loss = (levels[kept] ** 2).mean()
print("loss", round(loss.item(), 6))
loss.backward()
gradient = sensors.weight.grad
assert torch.isfinite(gradient).all(), "the gradient is not finite"
