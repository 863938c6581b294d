import torch
import torch._inductor.config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"

def f(x, w):
    h = torch.sin(x @ w) * 3
    h = torch.relu(h)
    return torch.tanh(h + 1).sum(dim=-1)

x, w = torch.ones(4, 3), torch.full((3, 5), 0.2)
torch.testing.assert_close(torch.compile(f)(x, w), f(x, w))
