import torch

kept = {}
encoder = torch.nn.Linear(6, 4)
encoder.register_forward_hook(lambda module, args, out: kept.update(encoder=out))
encoder.forward(torch.ones(3, 6))
kept["encoder"]
