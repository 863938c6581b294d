import torch

spare = torch.ones(2, requires_grad=True)
optimizer = torch.optim.Adam([spare])
optimizer.state[spare]["exp_avg"]
