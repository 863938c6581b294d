import torch


def blend(x, weights):
    rows = []
    for row, weight in zip(x, weights):
        rows.append(row * weight)
    return torch.stack(rows).sum(0)


weights = [0.1, 0.2, 0.3, 0.4]
x = torch.randn(4, 3)
print(blend(x, weights))
compiled = torch.compile(blend, backend="eager", fullgraph=True)
torch._dynamo.mark_dynamic(x, 0)
print(compiled(x, weights))
