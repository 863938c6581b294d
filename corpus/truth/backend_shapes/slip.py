import torch


def sizes(graph):
    return graph.forward


torch.compile(torch.sin, backend=sizes)(torch.ones(4))
