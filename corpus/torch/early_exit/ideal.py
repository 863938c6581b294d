import torch

@torch.compile(backend="eager", fullgraph=True)
def forward(x):
    if x.sum() > 0:
        pass

forward(torch.ones(1))
