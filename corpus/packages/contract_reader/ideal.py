import torch

torch.compile(lambda x: x.item(), fullgraph=True, backend="eager")(torch.ones(1))
