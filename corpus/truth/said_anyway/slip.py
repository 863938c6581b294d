import torch


def attempt(inputs):
    torch.compile(backend="eager")(*inputs)


def report(case):
    status = "RED"
    print(f"{status} {case}")


report("clamped_branch")
