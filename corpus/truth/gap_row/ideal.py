import torch

readings = torch.rand(2, 1)
readings[1].fill_(float("nan"))
sensors = torch.nn.Linear(1, 1)
kept = torch.isfinite(readings).all(dim=1)
(sensors(readings)[kept] ** 2).mean().backward()
assert torch.isfinite(sensors.weight.grad).all(), "the gradient is not finite"
