import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x)
        y = x * w
        if w.requires_grad:
            ctx.save_for_backward(w)
        return torch.tanh(y)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        slope = 1 - torch.tanh(x * w) ** 2
        return grad * slope * w, grad * slope * x


torch.manual_seed(0)
x = torch.randn(5, requires_grad=True)
w = torch.randn(5, requires_grad=True)
loss = Gate.apply(x, w).sum()
print("loss", float(loss))
loss.backward()
print(x.grad, w.grad)
