import torch

x = torch.nested.nested_tensor([torch.ones(3, 2)], layout=torch.jagged)
y = torch.nested.nested_tensor([torch.ones(3, 5)], layout=torch.jagged)
x * y
