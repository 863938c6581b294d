import torch

torch.nn.Module().state_dict()["freqs"]
