import torch


def heads(w):
    return w.sin().sum(), w.cos().sum()


w = torch.ones(6, requires_grad=True)
value, policy = torch.compile(heads, backend="aot_eager")(w)
value.backward()
policy.backward()
