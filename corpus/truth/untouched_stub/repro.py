"""Quantizes a small classifier, but for its first part."""

import torch
import torch.ao.quantization as quant
from torch import nn

torch.manual_seed(0)


class Entry(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.BatchNorm1d(width)
        self.stub = quant.QuantStub()

    def forward(self, x):
        return self.stub(self.scale(x))


class Classifier(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.entry = Entry(width)
        self.hidden = nn.Linear(width, classes)
        self.exit = quant.DeQuantStub()

    def forward(self, x):
        return self.exit(self.hidden(self.entry(x)))


def quantized(model, samples, keep):
    model.qconfig = quant.get_default_qconfig()
    for name, module in model.named_modules():
        if name in keep:
            module.qconfig = None
    quant.prepare(model, inplace=True)
    model(samples)
    return quant.convert(model)


model = Classifier(8, 3).eval()
samples = torch.randn(16, 8)
print(model(samples).argmax(1))
small = quantized(model, samples, keep={"entry"})
print(small(samples).argmax(1))
