import torch


def label(gain: float) -> str:
    return str(gain)


assert label(2.0) == torch.jit.script(label)(2.0), "scripted and plain labels differ"
