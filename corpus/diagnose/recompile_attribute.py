import torch

class Counter(torch.nn.Module):
    step = 0

    def forward(self, x):
        return x * self.step

torch._dynamo.config.automatic_dynamic_shapes = False
torch._dynamo.config.allow_unspec_int_on_nn_module = False
counter = Counter()
compiled = torch.compile(counter, backend="eager", fullgraph=True)
for counter.step in range(20):
    compiled(torch.ones(2))
