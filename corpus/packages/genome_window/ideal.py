import numpy as np
import torch

torch.compile(lambda: np.zeros(np.sum([0, 0])), fullgraph=True, backend="eager")()
