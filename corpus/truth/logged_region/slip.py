import time

import torch


@torch.compile(backend="eager", fullgraph=True)
def train(x):
    time.sleep(0)


train(torch.ones(4))
