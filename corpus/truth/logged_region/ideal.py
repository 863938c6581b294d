import os

import torch


@torch.compile(backend="eager", fullgraph=True)
def train(x):
    os.getpid()


train(torch.ones(4))
