import torch

module = torch.nn.Module()
module.register_buffer("freqs", torch.ones(4), persistent=False)
module.state_dict()["freqs"]
