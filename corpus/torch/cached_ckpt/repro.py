# Pair representation trunk (reduced from our folding model), activation checkpointing per block.
#
# The relative position features are expensive, so they are cached on the module. This worked with
# use_reentrant=True. After the switch to use_reentrant=False (reentrant is deprecated!) the FIRST step
# raises CheckpointError, "Number of tensors saved during forward: 23, during recomputation: 20"
from __future__ import annotations

import contextlib
import gc
import itertools as it
import time
from functools import partial, wraps
from typing import Optional

import torch
import torch.nn as nn
import torch.utils.checkpoint

NUM_RES = 14
NUM_SEQ = 5
C_M, C_Z, C_HIDDEN = 16, 12, 8
BINS = 9


def default(value, fallback):
    return value if value is not None else fallback


def log_memory(fn):
    @wraps(fn)
    def inner(*args, **kwargs):
        gc.collect()
        start = time.process_time()
        out = fn(*args, **kwargs)
        if torch.cuda.is_available():
            print(fn.__name__, torch.cuda.max_memory_allocated() >> 20, "MiB")
        else:
            print(fn.__name__, f"{time.process_time() - start:.2f} s")
        return out

    return inner


class Linear(nn.Linear):
    """nn.Linear with the init of the paper"""

    def __init__(self, c_in, c_out, bias=True, init="default"):
        super().__init__(c_in, c_out, bias=bias)
        with torch.no_grad():
            if bias:
                self.bias.zero_()
            if init == "gating":
                self.weight.zero_()
                self.bias.fill_(1.0)
            elif init == "final":
                self.weight.normal_(std=1e-3)
            else:
                nn.init.trunc_normal_(self.weight, std=c_in**-0.5)


class RelativePosition(nn.Module):
    def __init__(self, bins, c_z):
        super().__init__()
        self.bins = bins
        self.project = Linear(2 * bins + 1, c_z)
        self.cache: Optional[torch.Tensor] = None

    def onehot(self, index):
        offset = (index[:, None] - index[None, :]).clamp(-self.bins, self.bins) + self.bins
        return nn.functional.one_hot(offset, 2 * self.bins + 1).float()

    def forward(self, index):
        if self.cache is None:
            self.cache = torch.tanh(self.project(self.onehot(index)))
        return self.cache


class OuterProductMean(nn.Module):
    def __init__(self, c_m, c_z, c_hidden):
        super().__init__()
        self.norm = nn.LayerNorm(c_m)
        self.left, self.right = Linear(c_m, c_hidden), Linear(c_m, c_hidden)
        self.out = Linear(c_hidden * c_hidden, c_z, init="final")

    def forward(self, m):
        m = self.norm(m)
        outer = torch.einsum("sic,sjd->ijcd", self.left(m), self.right(m)) / m.shape[0]
        return self.out(outer.flatten(-2))


class TriangleMultiplication(nn.Module):
    def __init__(self, c_z, c_hidden, outgoing):
        super().__init__()
        self.equation = "ikc,jkc->ijc" if outgoing else "kic,kjc->ijc"
        self.norm_in, self.norm_out = nn.LayerNorm(c_z), nn.LayerNorm(c_hidden)
        self.a, self.b = Linear(c_z, c_hidden), Linear(c_z, c_hidden)
        self.gate = Linear(c_z, c_z, init="gating")
        self.out = Linear(c_hidden, c_z, init="final")

    def forward(self, z):
        z = self.norm_in(z)
        x = torch.einsum(self.equation, self.a(z), self.b(z))
        return torch.sigmoid(self.gate(z)) * self.out(self.norm_out(x))


class RowAttention(nn.Module):
    def __init__(self, c_m, c_z, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(c_m)
        self.qkv = Linear(c_m, 3 * c_m, bias=False)
        self.bias = Linear(c_z, heads, bias=False)
        self.out = Linear(c_m, c_m, init="final")

    def forward(self, m, z):
        q, k, v = self.qkv(self.norm(m)).unflatten(-1, (3, self.heads, -1)).unbind(-3)
        logits = torch.einsum("sihc,sjhc->shij", q, k) * q.shape[-1] ** -0.5
        logits = logits + self.bias(z).permute(2, 0, 1)
        return self.out(torch.einsum("shij,sjhc->sihc", logits.softmax(-1), v).flatten(-2))


class Block(nn.Module):
    def __init__(self, c_m=C_M, c_z=C_Z, c_hidden=C_HIDDEN, heads=4, dropout=0.0):
        super().__init__()
        self.position = RelativePosition(BINS, c_z)
        self.attention = RowAttention(c_m, c_z, heads)
        self.outer = OuterProductMean(c_m, c_z, c_hidden)
        self.outgoing = TriangleMultiplication(c_z, c_hidden, True)
        self.incoming = TriangleMultiplication(c_z, c_hidden, False)
        self.transition = nn.Sequential(nn.LayerNorm(c_z), Linear(c_z, 2 * c_z), nn.SiLU(), Linear(2 * c_z, c_z))
        self.dropout = nn.Dropout(dropout)

    def forward(self, m, z, index):
        z = z + self.position(index)
        m = m + self.dropout(self.attention(m, z))
        z = z + self.outer(m)
        z = z + self.dropout(self.outgoing(z))
        z = z + self.dropout(self.incoming(z))
        return m, z + self.transition(z)


class Trunk(nn.Module):
    def __init__(self, blocks, checkpoint=True):
        super().__init__()
        self.embed_m, self.embed_z = nn.Embedding(21, C_M), nn.Embedding(21 * 21, C_Z)
        self.blocks = nn.ModuleList(Block() for _ in range(blocks))
        self.checkpoint = checkpoint
        self.distogram = Linear(C_Z, 2 * BINS)

    def reset_cache(self):
        for module in self.modules():
            if isinstance(module, RelativePosition):
                module.cache = None

    def forward(self, msa, index=None):
        index = default(index, torch.arange(msa.shape[1], device=msa.device))
        m = self.embed_m(msa)
        z = self.embed_z(msa[0][:, None] * 21 + msa[0][None, :])
        self.reset_cache()
        for block in self.blocks:
            call = block
            if self.checkpoint and torch.is_grad_enabled():
                call = partial(torch.utils.checkpoint.checkpoint, block, use_reentrant=False)
            m, z = call(m, z, index)
        return self.distogram(z + z.transpose(0, 1))


@log_memory
def step(model, optimizer, msa, target, amp):
    with amp:
        logits = model(msa)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()


def sample(seed):
    g = torch.Generator().manual_seed(seed)
    msa = torch.randint(0, 21, (NUM_SEQ, NUM_RES), generator=g)
    points = torch.randn(NUM_RES, 3, generator=g).cumsum(0)
    target = torch.bucketize(torch.cdist(points, points), torch.linspace(0.5, 8.0, 2 * BINS - 1))
    return msa, target


def main():
    torch.manual_seed(6)
    model = Trunk(blocks=2)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, betas=(0.9, 0.99))
    amp = torch.autocast("cuda", torch.bfloat16) if torch.cuda.is_available() else contextlib.nullcontext()
    model.eval()
    with torch.no_grad():
        print("before", model(sample(0)[0]).shape)
    model.train()
    for seed in it.islice(it.count(), 3):
        loss = step(model, optimizer, *sample(seed), amp)
        print(seed, loss.item())


main()
