import torch

class Shift(torch.autograd.Function):
    def setup_context(ctx):
        pass
    def vmap(info, in_dims, steps):
        return steps, 0

def shifted(row):
    return Shift.apply(row, steps=2)

torch.vmap(shifted)(torch.ones(2, 2))
