import torch
from typing import Optional


def run(x: Optional[torch.Tensor]):
    has = x is not None
    if has:
        torch.neg(x)


run(None)
torch.jit.script(run)
