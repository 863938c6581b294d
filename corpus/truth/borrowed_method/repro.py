"""A pump that lends its own method to the station that drives it."""

import torch
from torch import nn


class Pump(nn.Module):
    def __init__(self, strokes: int):
        super().__init__()
        self.strokes = strokes
        self.seal = nn.Linear(4, 4)

    @torch.jit.export
    def flow(self) -> int:
        return self.strokes * 3


class Station(nn.Module):
    def __init__(self, strokes: int):
        super().__init__()
        self.pump = Pump(strokes)
        self.valve = nn.Linear(4, 1)
        # Callers ask the station; what they get is the pump's answer.
        self.flow = self.pump.flow

    @torch.jit.export
    def flow(self) -> int:
        return 0

    def forward(self, pressure):
        return torch.relu(self.valve(pressure))


station = Station(strokes=5)
print("plain:", station.flow(), station(torch.ones(2, 4)).shape)
scripted = torch.jit.script(station)
print("scripted:", scripted.flow())
