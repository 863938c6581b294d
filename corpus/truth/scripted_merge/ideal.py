import torch


def width(ratio: float) -> int:
    return int(str(ratio)[2:])


width(1.0)
torch.jit.script(width)(1.0)
