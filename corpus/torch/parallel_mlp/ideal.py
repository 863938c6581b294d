import torch
from torch.distributed.tensor import Shard, init_device_mesh, zeros

torch.distributed.init_process_group(store=torch.distributed.HashStore(), rank=0, world_size=1)
zeros(2, 2, device_mesh=init_device_mesh("cpu", [1]), placements=[Shard(1)]).view(4)
