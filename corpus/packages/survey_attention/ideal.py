import torch

torch.compile(lambda x: x.requires_grad_(), fullgraph=True, backend="eager")(torch.ones(1))
