import torch


def heads(features, weight):
    shared = torch.sin(features)
    value = (shared * weight).sum()
    policy = (features.cos() * weight).mean()
    return value, policy


def step(function, seed):
    torch.manual_seed(seed)
    features = torch.randn(6)
    weight = torch.randn(6, requires_grad=True)
    value, policy = function(features, weight)
    value.backward()
    first = weight.grad.clone()
    policy.backward()
    return first, weight.grad


print(step(heads, 0)[1].shape)
compiled = torch.compile(heads, backend="aot_eager")
print(step(compiled, 0)[1].shape)
