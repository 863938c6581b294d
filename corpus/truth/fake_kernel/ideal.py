import torch


@torch.library.custom_op("shop::pad_cols", mutates_args=())
def pad_cols(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(3, 6)


@pad_cols.register_fake
def _(x):
    return x.new_empty(3, 5)


@torch.compile(backend="eager")
def project(x, weight):
    return pad_cols(x) @ weight


project(torch.ones(3, 4), torch.ones(6, 2))
