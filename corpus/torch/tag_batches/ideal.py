import torch

f = torch.compile(len, backend="eager", fullgraph=True)
for i in range(9):
    f([torch.ones(1)] * i)
