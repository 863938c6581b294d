import torch
from torch import fx


class Scale(torch.nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return x * self.gain


def clip(module):
    graph = module.graph
    [scaled] = [node for node in graph.nodes if node.op == "call_function"]
    with graph.inserting_after(scaled):
        clipped = graph.call_function(torch.tanh, (scaled,))
    scaled.replace_all_uses_with(clipped)
    module.recompile()
    return module


traced = clip(fx.symbolic_trace(Scale(3)))
print(traced.code)
print(traced(torch.ones(2)))
