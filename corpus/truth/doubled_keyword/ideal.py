import torch

class Shift(torch.autograd.Function):
    generate_vmap_rule = False
    @staticmethod
    def forward(values, axis, steps=1):
        return values.clone()
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def vmap(info, in_dims, values, axis, steps):
        return values, 0

def shifted(row):
    return Shift.apply(row, -1, steps=2)

torch.vmap(shifted)(torch.ones(2, 2))
