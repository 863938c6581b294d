import torch


def sizes(graph, example_inputs):
    total = 0
    for given in example_inputs:
        total += given.shape.numel()
    print("inputs hold", total, "elements")
    return graph.forward


def scaled(x, steps):
    return x.sin() * steps + x.shape[0]


def run(function):
    results = []
    for steps in (2, 3, 4):
        results.append(function(torch.ones(steps + 2), steps).sum())
    return torch.stack(results)


print(run(scaled))
print(run(torch.compile(scaled, backend=sizes)))
