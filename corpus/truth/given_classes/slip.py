import torch
from torch.fx.experimental.proxy_tensor import make_fx

make_fx(torch.nn.functional.one_hot)(torch.tensor([0]))
