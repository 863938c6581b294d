import torch

class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = None

    def is_scaled(self):
        return self.scale is not None

    def forward(self, features):
        if self.is_scaled():
            features = self.scale(features)
        return features

torch.jit.script(Head())(torch.rand(1))
