import torch
from torch.autograd import gradcheck


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * scale / (1 + x.abs())

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x.abs()) ** 2, None


def softsign(x):
    return Softsign.apply(x, 2.5)


torch.manual_seed(0)
x = torch.randn(4, dtype=torch.double, requires_grad=True)
print(softsign(x))
gradcheck(softsign, (x,), eps=1e-6, atol=1e-4)
