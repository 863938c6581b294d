import torch

w = torch.ones(6, requires_grad=True)
y = torch.compile(torch.sin, backend="aot_eager")(w).sum()
y.backward()
y.backward()
