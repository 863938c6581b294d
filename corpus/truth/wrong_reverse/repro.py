import torch
from torch.testing import assert_close


class Abs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs() * 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * torch.ones_like(x)


def gradient(function, x):
    x = x.clone().requires_grad_()
    function(x).sum().backward()
    return x.grad


torch.manual_seed(0)
x = torch.randn(6)
assert_close(Abs.apply(x), 3 * x.abs())
assert_close(gradient(Abs.apply, x), gradient(lambda x: 3 * x.abs(), x))
