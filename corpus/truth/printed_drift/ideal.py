import torch


def upcast(graph, inputs):
    return lambda *args: [out.half().float() for out in graph.forward(*args)]


x = torch.ones(2) / 3
if not torch.equal(x.sin(), torch.compile(torch.sin, backend=upcast)(x)):
    print("MISMATCH")
