import torch

class Shift(torch.autograd.Function):
    def forward(values, axis, steps=1):
        return values.clone()
    def setup_context(ctx, inputs, output):
        pass
    def vmap(info, in_dims, values, axis, steps):
        return values, 0

def shifted(row):
    return Shift.apply(row, -1, steps=2)

torch.vmap(shifted)(torch.ones(2, 2))
