import torch


def width(text: str) -> int:
    return int(text)


torch.jit.script(width)("")
