import torch

class F(torch.autograd.Function):
    def forward(ctx, x, y):
        return x
    def backward(ctx, x):
        return x

F.apply(torch.ones(1, requires_grad=True), 0).backward()
