import torch

torch.compile(lambda x: x[x > 0], fullgraph=True, backend="eager")(torch.ones(1))
