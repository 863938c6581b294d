import torch


def sizes(graph, example_inputs):
    return total


torch.compile(torch.sin, backend=sizes)(torch.ones(4))
