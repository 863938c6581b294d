import torch

module = torch.fx.symbolic_trace(torch.nn.ReLU())
for node in module.graph.nodes:
    node.meta["stage"]
