import torch

torch.compile(lambda x: x.to(torch.float32), fullgraph=True, backend="eager")(torch.nn.Linear(1, 1))
