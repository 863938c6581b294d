# Sequence parallel feed-forward, cut out of our trainer (8 x H100 there). It fails in the same way with
# ONE process and gloo on my laptop, so here is that:
#
#     torchrun --standalone --nproc-per-node 1 sp_ffn.py
# or just
#     python sp_ffn.py
#
# The loss needs (batch * sequence, vocab) logits. With the plain tensor `.view(-1, vocab)` is no problem,
# with the DTensor: RuntimeError: Sharding propagation failed for Op(op=aten.view.default, ...)
import argparse
import logging
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor

logger = logging.getLogger("sp")


class RankFilter(logging.Filter):
    def filter(self, record):
        record.rank = os.environ.get("RANK", "0")
        return record.rank == "0" or record.levelno >= logging.WARNING


def init_logging(level):
    handler = logging.StreamHandler(sys.stdout)
    handler.addFilter(RankFilter())
    handler.setFormatter(logging.Formatter("[%(rank)s] %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(level)


def init_distributed(timeout):
    """env:// under torchrun, else a group of one."""
    if "RANK" in os.environ and "MASTER_ADDR" in os.environ:
        dist.init_process_group("gloo", timeout=timeout)
    else:
        store = dist.HashStore()
        dist.init_process_group("gloo", store=store, rank=0, world_size=1, timeout=timeout)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("sp",))
    logger.info("mesh %s over %d ranks", mesh.mesh_dim_names, mesh.size())
    return mesh


class Embedding(nn.Module):
    def __init__(self, vocab, dim, length):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(0.02 * torch.randn(length, dim))

    def forward(self, ids):
        return self.tokens(ids) + self.positions[: ids.shape[1]]


class FeedForward(nn.Module):
    def __init__(self, dim, hidden, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.w1 = nn.Linear(dim, hidden)
        self.w2 = nn.Linear(hidden, dim)
        self.dropout = dropout

    def forward(self, x):
        y = F.gelu(self.w1(self.norm(x)), approximate="tanh")
        if self.dropout and self.training:
            y = F.dropout(y, self.dropout)
        return x + self.w2(y)


class Model(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embedding = Embedding(args.vocab, args.dim, args.length)
        self.layers = nn.ModuleList(
            FeedForward(args.dim, 4 * args.dim, args.dropout) for _ in range(args.layers)
        )
        self.norm = nn.LayerNorm(args.dim)
        self.lm_head = nn.Linear(args.dim, args.vocab, bias=False)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def replicate(module_name, module, mesh):
    for name, parameter in list(module.named_parameters(recurse=False)):
        tensor = distribute_tensor(parameter.detach(), mesh, [Replicate()])
        module.register_parameter(name, nn.Parameter(tensor))


def shard_sequence(x, mesh):
    return DTensor.from_local(x.chunk(mesh.size(), dim=1)[mesh.get_local_rank()], mesh, [Shard(1)])


def synthetic_batches(args):
    g = torch.Generator().manual_seed(args.seed)
    ids = torch.randint(0, args.vocab, (args.batch, args.length + 1), generator=g)
    for step in range(args.steps):
        ids = ids.roll(step, dims=1)
        yield ids[:, :-1], ids[:, 1:]


class Stopper:
    """SLURM sends USR1 before it kills us"""

    def __init__(self):
        self.stop = False
        if hasattr(signal, "SIGUSR1"):
            signal.signal(signal.SIGUSR1, self)

    def __call__(self, number, frame):
        logger.warning("signal %d, will stop", number)
        self.stop = True


def save_checkpoint(folder, model, step):
    if dist.get_rank() != 0:
        return
    folder.mkdir(parents=True, exist_ok=True)
    state = {k: v.full_tensor() if isinstance(v, DTensor) else v for k, v in model.state_dict().items()}
    torch.save({"step": step, "model": state}, folder / f"step{step:06d}.pt")


def train(args, mesh):
    torch.manual_seed(args.seed)
    embedding_and_rest = Model(args)
    embedding = embedding_and_rest.embedding
    layers = distribute_module(embedding_and_rest, mesh, replicate)
    layers.train()
    optimizer = torch.optim.AdamW(layers.parameters(), lr=args.lr, foreach=False)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / args.warmup))
    stopper = Stopper()
    for step, (ids, labels) in enumerate(synthetic_batches(args)):
        ids = distribute_tensor(ids, mesh, [Replicate()])
        hidden = embedding(ids).redistribute(mesh, [Shard(1)])
        logits = layers(hidden)
        targets = shard_sequence(labels, mesh).redistribute(mesh, [Replicate()])
        loss = F.cross_entropy(logits.view(-1, args.vocab), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        value = loss.full_tensor().item()
        logger.info("step %d loss %.3f lr %.2e", step, value, warmup.get_last_lr()[0])
        if args.save_every and (step + 1) % args.save_every == 0:
            save_checkpoint(args.folder, layers, step + 1)
        if stopper.stop:
            break


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--vocab", type=int, default=256)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--save-every", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("checkpoints"))
    parser.add_argument("--log-level", default="INFO")
    args = parser.parse_args()
    init_logging(args.log_level)
    mesh = init_distributed(timedelta(seconds=60))
    try:
        train(args, mesh)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
