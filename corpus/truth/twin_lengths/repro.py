"""Weighs the notes of melodies of several lengths."""

import torch
from torch import nn

torch.manual_seed(2)


class Melody(nn.Module):
    def __init__(self, pitches, width):
        super().__init__()
        self.pitch = nn.Embedding(pitches, width)
        self.volume = nn.Linear(1, width)

    def forward(self, notes, volumes):
        heard = torch.nested.nested_tensor_from_jagged(
            torch.tanh(self.pitch(notes.values())), notes.offsets()
        )
        return heard * volumes.sigmoid()


def jagged(rows):
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


lengths = [3, 5, 2]
notes = jagged([torch.randint(0, 12, (length,)) for length in lengths])
volumes = jagged([torch.rand(length, 6) for length in lengths])
assert torch.equal(notes.offsets(), volumes.offsets())
model = Melody(12, 6)
print(sum(each.sum() for each in model(notes, volumes).unbind()))
