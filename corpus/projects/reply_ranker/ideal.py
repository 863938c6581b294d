import logging
import torch

torch.compile(lambda: logging.getLogger().info(""), fullgraph=True, backend="eager")()
