import torch

x = torch.ones(4)
x.source = "lidar"
x.clone().source
