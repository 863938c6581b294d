import torch
from typing import Optional


def run(x: Optional[torch.Tensor]):
    torch.neg(x)


torch.jit.script(run)
