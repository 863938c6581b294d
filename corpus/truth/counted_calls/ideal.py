import torch

torch._dynamo.config.error_on_recompile = True


class Warm(torch.nn.Module):
    scale = 0.5

    def forward(self, x):
        self.scale += 0.125
        return x * self.scale


run = torch.compile(Warm(), backend="eager")
run(torch.ones(4))
run(torch.ones(4))
