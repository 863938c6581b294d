import torch

if not torch.equal(torch.zeros(2), torch.ones(2)):
    print("MISMATCH")
