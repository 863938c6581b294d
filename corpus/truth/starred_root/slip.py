from torch import fx, nn


class Root(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Identity()

    def forward(self, inputs):
        return self.inner(*inputs)


fx.symbolic_trace(Root())
