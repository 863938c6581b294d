import torch

weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
weight.sum().backward()
optimizer.step()
optimizer.param_groups[0]["params"][0] = torch.nn.Parameter(weight.detach())
optimizer.state_dict()
