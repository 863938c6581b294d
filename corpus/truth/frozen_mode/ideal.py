import torch
from torch.utils.checkpoint import checkpoint


class Crop(torch.nn.Module):
    def forward(self, x):
        return (x[:2] if self.training else x).tanh()


model = Crop()
out = checkpoint(model, torch.ones(4, requires_grad=True), use_reentrant=False)
model.eval()
out.sum().backward()
