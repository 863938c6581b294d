import torch


def start(size, dtype):
    torch.manual_seed(3)
    guess = torch.randn(size, requires_grad=True)
    return guess.to(dtype)


def energy(x):
    return (x**2).sum() + (x[1:] * x[:-1]).sum()


def descend(x, steps=3, rate=0.1):
    for step in range(steps):
        value = energy(x)
        value.backward()
        print(step, float(value), float(x.grad.norm()))
        with torch.no_grad():
            x -= rate * x.grad
            x.grad = None
    return x


descend(start(4, torch.float32))
descend(start(4, torch.float64))
