import copy, torch

copy.deepcopy(torch.ones(1, requires_grad=True).sin())
