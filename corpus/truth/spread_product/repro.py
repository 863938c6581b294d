import torch

table = torch.tensor([[2e13, 0.0, 0.0], [2e13, 2e13, 0.0], [2e13, 2e13, 2e13]])
print("product", torch.prod(table))
mapped = torch.func.grad(torch.prod)(table)

leaf = table.clone().requires_grad_()
torch.prod(leaf).backward()
print("by transform", mapped.tolist())
print("by backward", leaf.grad.tolist())
assert torch.equal(mapped, leaf.grad), "the gradients differ"
