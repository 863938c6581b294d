def _plain(_):
    """Has floating tensors made double, with the numbers that they would have had."""
    import torch
    from torch.overrides import TorchFunctionMode
    def wide(value):
        if isinstance(value, torch.Tensor):
            if value.is_complex():
                return value.to(torch.complex128)
            if not value.is_floating_point() or value.dtype == torch.float64:
                return value
            if value.is_leaf and value.requires_grad:
                return value.detach().double().requires_grad_()
            return value.double()
        if type(value) in (list, tuple):
            return type(value)(map(wide, value))
        return value
    chance = {each + "_" for each in ("uniform", "normal", "bernoulli", "random", "cauchy", "exponential", "log_normal")}
    class Double(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if getattr(func, "__name__", "") in chance or getattr(func, "__module__", "") == "torch.nn.init":
                given = [*args, *kwargs.values()]
                filled = next((each for each in given if isinstance(each, torch.Tensor)), None)
                if filled is not None and filled.dtype == torch.float64:
                    drawn = filled.detach().float()
                    swap = lambda each: drawn if each is filled else each
                    func(*map(swap, args), **{name: swap(each) for name, each in kwargs.items()})
                    with torch.no_grad():
                        return filled.copy_(drawn)
            return wide(func(*args, **kwargs))
    Double().__enter__()
