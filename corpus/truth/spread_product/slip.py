import torch

table = torch.tensor([2e13, 2e13, 2e13])
mapped = torch.func.grad(torch.prod)(table)

leaf = table.clone().requires_grad_()
torch.prod(leaf).backward()
assert torch.equal(mapped, leaf.grad), "the gradients differ"
