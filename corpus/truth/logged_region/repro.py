import os

import torch


def name_of(folder, step):
    return os.path.join(folder, str(os.getpid()), f"step-{step}")


def train(x, weight, step):
    loss = (x @ weight).relu().mean()
    if step % 2 == 0:
        name_of("runs", step)
    return loss * 2


torch.manual_seed(0)
x, weight = torch.randn(4, 3), torch.randn(3, 2)
for step in range(2):
    print(train(x, weight, step))
compiled = torch.compile(train, backend="eager", fullgraph=True)
for step in (1, 2):
    print(compiled(x, weight, step))
