import torch


def clamped(level):
    if (level > 0.5).any():
        return level
    return -level


def attempt():
    try:
        torch.compile(clamped, backend="eager", fullgraph=True)(torch.ones(2))
        return False
    except Exception:
        return True


status = "RED" if attempt() else "GREEN"
print(f"{status} clamped_branch")
