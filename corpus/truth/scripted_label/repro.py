import torch


def label(name: str, gain: float, steps: int) -> str:
    text = name + "-" + str(gain)
    for step in range(steps):
        text += "/" + str(step)
    return text


def check(function, cases):
    for name, gain, steps in cases:
        plain, found = label(name, gain, steps), function(name, gain, steps)
        assert plain == found, f"scripted and plain labels differ: {plain}, {found}"


scripted = torch.jit.script(label)
print(scripted("low", 0.5, 2))
check(label, [("low", 0.5, 2), ("high", 2.0, 1)])
check(scripted, [("low", 0.5, 2), ("high", 2.0, 1)])
