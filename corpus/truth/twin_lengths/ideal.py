import torch

rows = [torch.ones(3, 2), torch.ones(2, 2)]
x = torch.nested.nested_tensor(rows, layout=torch.jagged)
y = torch.nested.nested_tensor(rows, layout=torch.jagged)
x * y
