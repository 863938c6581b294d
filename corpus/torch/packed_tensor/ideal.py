import torch

class T(torch.Tensor):
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(cls, [])
    def __tensor_flatten__(self):
        return ["x"], 0
    __tensor_unflatten__ = x = None
    __torch_dispatch__ = print

torch.compile(print, backend="eager")(T())
