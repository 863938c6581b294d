import copy

import torch

copy.deepcopy(torch.nn.Parameter(torch.ones(8))).no_decay
