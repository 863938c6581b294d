def _plain(_):
    """Has optimizers update one parameter after the other."""
    import torch

    start = torch.optim.Optimizer.__init__

    def one_by_one(self, params, defaults):
        for name in ("foreach", "fused"):
            if name in defaults:
                defaults[name] = False
        start(self, params, defaults)
        for group in self.param_groups:
            group.update({name: False for name in ("foreach", "fused") if name in group})

    torch.optim.Optimizer.__init__ = one_by_one
