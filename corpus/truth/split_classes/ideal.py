import torch
from torch.utils.data import Subset, TensorDataset

whole = TensorDataset(torch.ones(4))
whole.classes = ["cat"]
Subset(whole, [0]).classes
