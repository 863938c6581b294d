import torch

def forward():
    None()

torch.jit.script(forward)
