import torch
from torch import nn


class Pump(nn.Module):
    def __init__(self):
        super().__init__()
        self.strokes = 5

    @torch.jit.export
    def flow(self):
        return self.strokes


class Station(nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = Pump().flow


torch.jit.script(Station()).flow()
