import torch

torch._dynamo.config.error_on_recompile = True
run = torch.compile(torch.sin, backend="eager")
run(torch.ones(1))
run(torch.ones(2))
