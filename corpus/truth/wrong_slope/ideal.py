import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.5

    @staticmethod
    def backward(ctx, grad):
        return grad


x = torch.ones(4, dtype=torch.double, requires_grad=True)
torch.autograd.gradcheck(Double.apply, x)
