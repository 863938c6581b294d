import torch

module = torch.fx.symbolic_trace(torch.nn.ReLU())
for node in module.graph.nodes:
    node.meta["stage"] = 0
for node in torch.fx.symbolic_trace(module).graph.nodes:
    node.meta["stage"]
