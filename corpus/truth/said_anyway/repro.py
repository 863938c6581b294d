"""Cases that a full graph does not capture are RED: clamped_branch is one of them."""

import platform

import torch


def clamped(level, bound):
    if (level > bound).any():
        return level.clamp(max=0.5)
    return level


def cases():
    case = "clamped_branch"
    return [(case, clamped, (torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.5])))]


def attempt(function, inputs, backend):
    try:
        value = torch.compile(function, backend=backend, fullgraph=True)(*inputs)
        return False, value
    except Exception as error:
        return True, error


def verdict(expected, attempted):
    failed, value = attempted
    if failed:
        return True, f"{type(value).__name__} where {expected.tolist()} is right"
    return not torch.equal(value, expected), "captured"


def report(case, backend, expected, attempted):
    is_red, message = verdict(expected, attempted)
    status = "RED" if is_red else "GREEN"
    print(f"{status} {case} torch={torch.__version__} {platform.machine()} {backend}: {message}")


for case, function, inputs in cases():
    expected = function(*inputs)
    report(case, "eager", expected, attempt(function, inputs, "eager"))
