import torch
from torch import nn


class Pump:
    @torch.jit.export
    def flow(self):
        self.strokes


class Station(nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = Pump().flow


torch.jit.script(Station())
