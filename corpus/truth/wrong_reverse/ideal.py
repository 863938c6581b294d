import torch


class Abs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.abs()

    @staticmethod
    def backward(ctx, grad):
        return grad


x = -torch.ones(6, requires_grad=True)
y = -torch.ones(6, requires_grad=True)
torch.testing.assert_close(
    torch.autograd.grad(Abs.apply(x).sum(), x), torch.autograd.grad(y.abs().sum(), y)
)
