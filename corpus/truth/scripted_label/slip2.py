import torch


def label(gain: float) -> str:
    return str(gain)


assert torch.jit.script(label)(0.5) == "2.0", "scripted and plain labels differ"
