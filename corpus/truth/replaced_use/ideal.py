import torch
from torch import fx


class Scale(torch.nn.Module):
    def forward(self, x):
        return x * 3


traced = fx.symbolic_trace(Scale())
_, scaled, _ = traced.graph.nodes
with traced.graph.inserting_after(scaled):
    clipped = traced.graph.call_function(torch.tanh, (scaled,))
scaled.replace_all_uses_with(clipped)
traced.recompile()
traced(torch.ones(2))
