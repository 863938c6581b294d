import torch

x = torch.ones(1, requires_grad=True)
y = torch.compile(torch.sin, backend="aot_eager")(x)
torch.autograd.grad(y, x, create_graph=True)[0].backward()
