import torch
from torch.utils.checkpoint import checkpoint

a = [torch.sin, torch.clone]
checkpoint(lambda x: a.pop(0)(x), torch.ones(1, requires_grad=True), use_reentrant=False).backward()
