import copy

import torch

p = torch.nn.Parameter(torch.ones(8))
p.no_decay = True
copy.deepcopy(p).no_decay
