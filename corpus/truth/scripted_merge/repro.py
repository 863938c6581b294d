import torch
from torch import Tensor
from typing import List


def columns(parts: List[Tensor], ratio: float) -> Tensor:
    out: List[Tensor] = []
    for part in parts:
        text = str(ratio)
        width = int(text[2:])
        out.append(part[:, :width])
    return torch.cat(out, dim=1)


parts = [torch.arange(10.0).view(2, 5), torch.ones(2, 3)]
print(columns(parts, 1.0).shape, columns(parts, 1.2).shape)
scripted = torch.jit.script(columns)
print(scripted(parts, 1.2).shape)
print(scripted(parts, 1.0).shape)
