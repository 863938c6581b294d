import torch
from torch.utils.data import Subset

Subset([1], [0]).classes
