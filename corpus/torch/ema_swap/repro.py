"""
Set transformer for jet tagging; trainer with hooks.

After the first epoch the EMA hook clones the model for validation and copy.deepcopy raises
  RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol ...
We use no weight_norm (that is what the message talks about).
If I create the EMA copy BEFORE the first forward it works. Why does a forward make a difference?
"""
import copy
import itertools
import json
import math
import textwrap
from abc import ABC, abstractmethod
from functools import lru_cache

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, Subset

CONFIG = json.loads(
    textwrap.dedent(
        """
        {
          "model": {"type": "set_transformer", "dim": 32, "heads": 4, "blocks": 2, "inducing": 6, "features": 5},
          "data": {"jets": 96, "constituents": 18, "batch": 16, "split": 0.75},
          "optim": {"type": "NAdam", "lr": 0.002, "weight_decay": 0.0001},
          "hooks": [
            {"type": "lr", "warmup": 4},
            {"type": "grad_norm", "max": 5.0},
            {"type": "ema", "decay": 0.98, "every": 1},
            {"type": "print", "every": 2}
          ],
          "epochs": 2,
          "seed": 2024
        }
        """
    )
)


class Registry(dict):
    def register(self, name):
        def wrap(cls):
            assert name not in self, name
            self[name] = cls
            return cls

        return wrap

    def build(self, config, **more):
        config = dict(config)
        return self[config.pop("type")](**config, **more)


MODELS, HOOKS = Registry(), Registry()


class Jets(Dataset):
    """(pt, eta, phi, log pt, mask) of toy jets; label 1 has two prongs"""

    def __init__(self, jets, constituents, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.samples = [self.make(i % 2, constituents) for i in range(jets)]

    def make(self, prongs, n):
        g = self.generator
        pt = torch.distributions.utils.clamp_probs(torch.rand(n, generator=g)).log().neg()
        angle = 0.1 * torch.randn(n, 2, generator=g)
        if prongs:
            angle[n // 2 :] += 0.4
        mask = (torch.arange(n) < torch.randint(n // 2, n + 1, (1,), generator=g)).float()
        features = torch.cat([pt[:, None], angle, pt.log()[:, None], mask[:, None]], dim=1)
        return features, torch.tensor(prongs)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


class MAB(nn.Module):
    """multihead attention block"""

    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ln0, self.ln1 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.Mish(), nn.Linear(2 * dim, dim))
        self.last_map = None

    def forward(self, q, k, mask=None):
        y, self.last_map = self.attention(q, k, k, key_padding_mask=mask, average_attn_weights=True)
        x = self.ln0(q + y)
        return self.ln1(x + self.ff(x))


class ISAB(nn.Module):
    def __init__(self, dim, heads, inducing):
        super().__init__()
        self.points = nn.Parameter(torch.empty(1, inducing, dim))
        nn.init.xavier_uniform_(self.points)
        self.gather, self.spread = MAB(dim, heads), MAB(dim, heads)

    def forward(self, x, mask):
        h = self.gather(self.points.expand(len(x), -1, -1), x, mask)
        return self.spread(x, h)


@MODELS.register("set_transformer")
class SetTransformer(nn.Module):
    def __init__(self, dim, heads, blocks, inducing, features):
        super().__init__()
        self.embed = nn.Linear(features, dim)
        self.blocks = nn.ModuleList(ISAB(dim, heads, inducing) for _ in range(blocks))
        self.seed = nn.Parameter(torch.zeros(1, 1, dim))
        self.pool = MAB(dim, heads)
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        mask = x[..., -1] < 0.5
        h = self.embed(x)
        for block in self.blocks:
            h = block(h, mask)
        return self.head(self.pool(self.seed.expand(len(x), -1, -1), h, mask)[:, 0])


class Hook(ABC):
    def before_step(self, trainer): ...

    def after_step(self, trainer): ...

    @abstractmethod
    def after_epoch(self, trainer): ...


@HOOKS.register("lr")
class WarmupLR(Hook):
    def __init__(self, warmup):
        self.warmup = warmup

    def before_step(self, trainer):
        for group in trainer.optimizer.param_groups:
            group["lr"] = group.setdefault("base", group["lr"]) * min(1, (trainer.step + 1) / self.warmup)

    def after_epoch(self, trainer):
        pass


@HOOKS.register("grad_norm")
class GradNorm(Hook):
    def __init__(self, max):
        self.max, self.norms = max, []

    def before_step(self, trainer):
        self.norms.append(nn.utils.clip_grad_norm_(trainer.model.parameters(), self.max).item())

    def after_epoch(self, trainer):
        print(f"  largest norm {max(self.norms, default=math.nan):.2f}")


@HOOKS.register("ema")
class EMA(Hook):
    def __init__(self, decay, every):
        self.decay, self.every, self.shadow = decay, every, None

    @torch.no_grad()
    def after_epoch(self, trainer):
        if self.shadow is None:
            self.shadow = copy.deepcopy(trainer.model).requires_grad_(False).eval()
        else:
            pairs = zip(self.shadow.parameters(), trainer.model.parameters())
            torch._foreach_lerp_(*map(list, zip(*pairs)), 1 - self.decay)
        print("  EMA accuracy", trainer.evaluate(self.shadow))


@HOOKS.register("print")
class Print(Hook):
    def __init__(self, every):
        self.every = every

    def after_step(self, trainer):
        if trainer.step % self.every == 0:
            print(f"  step {trainer.step} loss {trainer.loss.item():.3f}")

    def after_epoch(self, trainer):
        print(f"epoch {trainer.epoch} done")


class Trainer:
    def __init__(self, config):
        torch.manual_seed(config["seed"])
        data = config["data"]
        jets = Jets(data["jets"], data["constituents"], config["seed"])
        cut = int(len(jets) * data["split"])
        self.train_loader = DataLoader(Subset(jets, range(cut)), data["batch"], shuffle=True)
        self.test_loader = DataLoader(Subset(jets, range(cut, len(jets))), data["batch"])
        self.model = MODELS.build(config["model"])
        settings = dict(config["optim"])
        self.optimizer = getattr(optim, settings.pop("type"))(self.model.parameters(), **settings)
        self.hooks = [HOOKS.build(hook) for hook in config["hooks"]]
        self.counter = itertools.count()
        self.epoch = self.step = 0
        self.loss = None

    def call(self, event):
        for hook in self.hooks:
            getattr(hook, event)(self)

    @lru_cache(maxsize=None)
    def criterion(self):
        return nn.CrossEntropyLoss(label_smoothing=0.01)

    def run(self, epochs):
        for self.epoch in range(epochs):
            self.model.train()
            for x, y in self.train_loader:
                self.step = next(self.counter)
                self.loss = self.criterion()(self.model(x), y)
                self.optimizer.zero_grad()
                self.loss.backward()
                self.call("before_step")
                self.optimizer.step()
                self.call("after_step")
            self.call("after_epoch")

    @torch.no_grad()
    def evaluate(self, model):
        hits = [model(x).argmax(-1).eq(y) for x, y in self.test_loader]
        return torch.cat(hits).float().mean().item()


if __name__ == "__main__":
    Trainer(CONFIG).run(CONFIG["epochs"])
