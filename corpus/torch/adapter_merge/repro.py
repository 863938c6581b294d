# Fine-tuning with low-rank adapters, merged into the base weights on the fly.
# Run as:  python finetune_lora.py            (single process, what I post here)
#     or:  torchrun --nproc_per_node=4 finetune_lora.py
#
# eager gives a plain RuntimeError from F.linear which I would have understood... compiled gives this
# TorchRuntimeError with 3 pages of FakeTensor. The adapter code is copied from our old 2.1 branch.

import functools
import gc
import math
import os
import socket

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

RANK = int(os.environ.get("RANK", 0))
WORLD = int(os.environ.get("WORLD_SIZE", 1))
LOCAL_RANK = int(os.environ.get("LOCAL_RANK", 0))
use_cuda = torch.cuda.is_available()
device = torch.device("cuda", LOCAL_RANK) if use_cuda else torch.device("cpu")
amp_dtype = torch.bfloat16


def rank_zero(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        if RANK == 0:
            return fn(*args, **kwargs)
        return None

    return inner


@rank_zero
def report(*what):
    print(f"[{socket.gethostname()[:3]}:{RANK}]", *what)


def setup():
    if WORLD > 1:
        dist.init_process_group("nccl" if use_cuda else "gloo")
        torch.manual_seed(100 + RANK)
    else:
        torch.manual_seed(100)


class LoraLinear(nn.Module):
    """y = x (W + s * B A)^T + b"""

    def __init__(self, base: nn.Linear, r: int = 8, alpha: int = 16, dropout: float = 0.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)

    def delta(self):
        return self.scale * (self.B @ self.A).T

    def forward(self, x):
        weight = self.base.weight
        y = F.linear(x, weight, self.base.bias)
        return y + F.linear(self.dropout(x), self.delta())

    def extra_repr(self):
        return f"r={self.A.shape[0]}, scale={self.scale}"


def rotary(x, base=10000.0):
    length, dim = x.shape[-2:]
    inv = base ** (-torch.arange(0, dim, 2, device=x.device).float() / dim)
    angles = torch.outer(torch.arange(length, device=x.device).float(), inv)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def split(self, x, n):
        b, t, _ = x.shape
        return x.view(b, t, n, self.head_dim).transpose(1, 2)

    def forward(self, x):
        q = rotary(self.split(self.q_proj(x), self.heads))
        k = rotary(self.split(self.k_proj(x), self.kv_heads))
        v = self.split(self.v_proj(x), self.kv_heads)
        k = k.repeat_interleave(self.heads // self.kv_heads, 1)
        v = v.repeat_interleave(self.heads // self.kv_heads, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.attn = Attention(dim, heads, kv_heads)
        self.mlp = SwiGLU(dim, 8 * dim // 3)
        self.norm1 = nn.RMSNorm(dim)
        self.norm2 = nn.RMSNorm(dim)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TinyLM(nn.Module):
    def __init__(self, vocab=320, dim=96, depth=2, heads=6, kv_heads=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block(dim, heads, kv_heads) for _ in range(depth)])
        self.norm = nn.RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.embed.weight

    def forward(self, ids, labels=None):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.norm(x))
        if labels is None:
            return logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=-100)


def add_adapters(model, targets=("q_proj", "k_proj", "v_proj", "down"), **kwargs):
    replaced = []
    for name, module in list(model.named_modules()):
        for child_name, child in list(module.named_children()):
            if child_name in targets and isinstance(child, nn.Linear):
                setattr(module, child_name, LoraLinear(child, **kwargs))
                replaced.append(f"{name}.{child_name}")
    return replaced


def batches(n, batch=4, length=24, vocab=320):
    g = torch.Generator().manual_seed(RANK)
    for _ in range(n):
        ids = torch.randint(0, vocab, (batch, length), generator=g)
        labels = ids.clone()
        labels[:, :4] = -100
        yield ids.to(device), labels.to(device)


def main():
    setup()
    model = TinyLM().to(device)
    names = add_adapters(model, r=4, alpha=8)
    report(len(names), "adapters:", *names[:3], "...")
    trainable = [p for n, p in model.named_parameters() if n.endswith((".A", ".B"))]
    if WORLD > 1:
        model = DDP(model, device_ids=[LOCAL_RANK] if use_cuda else None)
    step_fn = torch.compile(model)
    optimizer = torch.optim.AdamW(trainable, lr=1e-3, betas=(0.9, 0.95))
    scaler = torch.amp.GradScaler(device.type, enabled=amp_dtype is torch.float16)
    for step, (ids, labels) in enumerate(batches(3)):
        with torch.autocast(device.type, dtype=amp_dtype, enabled=use_cuda):
            loss = step_fn(ids, labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(trainable, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        report(f"step {step}: {loss.item():.3f}")
    gc.collect()
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
