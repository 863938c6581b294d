import torch
from torch import nn


@torch.library.custom_op("truth::blend", mutates_args=())
def blend(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return left * right.tanh()


@blend.register_fake
def _(left, right):
    def plain(right):
        return left * right.tanh()

    result, pull = torch.func.vjp(plain, right)
    return torch.empty_like(result)


class Blender(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 0.5))

    def forward(self, x):
        return torch.ops.truth.blend(x, self.weight).sum(0)


model = Blender()
with torch.no_grad():
    print(model(torch.ones(2, 3)))
    print(torch.compile(model, backend="eager")(torch.ones(2, 3)))
