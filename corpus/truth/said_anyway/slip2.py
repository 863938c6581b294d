import torch


def attempt():
    try:
        return False, torch.compile(backend="eager")(0)
    except Exception as error:
        return True, error


def report(case):
    is_red, _ = attempt()
    status = "RED" if is_red else "GREEN"
    print(f"{status} {case}")


report("clamped_branch")
