import torch


@torch.library.custom_op("shop::pad_cols", mutates_args=())
def pad_cols(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.compile(backend="eager")
def project(x):
    return pad_cols(x)


project(torch.ones(3, 4))
