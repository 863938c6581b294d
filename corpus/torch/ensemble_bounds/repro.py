# -*- coding: utf-8 -*-
"""Deep ensemble for the pump-curve surrogate (prediction ± bounds).

Goal: train N members at once with torch.func (stack_module_state + vmap(grad)) as in the
model-ensembling tutorial. Evaluation works, training does not:

  RuntimeError: vmap: called random operation while in randomness error mode.

With p_drop=0 it trains.  π.s. data is synthetic here.
"""
from __future__ import annotations

import csv
import io
import logging
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

LOGGER = logging.getLogger(__name__)
logging.basicConfig(format="%(levelname).1s %(message)s", level=logging.INFO)

N_MEMBERS = 4
COLUMNS = ("flow", "speed", "viscosity", "η", "head")

RAW = """\
flow;speed;viscosity;η;head
12.5;1450;1.0;0.61;31.2
18.0;1450;1.0;0.70;29.8
24.1;1450;1.0;0.74;27.1
30.2;1450;1.1;0.71;22.9
14.9;2900;1.0;0.58;124.0
29.7;2900;1.0;0.73;118.3
44.8;2900;1.2;0.76;104.5
59.6;2900;1.2;0.70;85.2
"""


def read_table(text: str) -> np.ndarray:
    reader = csv.DictReader(io.StringIO(text), delimiter=";")
    rows = [[float(row[name]) for name in COLUMNS] for row in reader]
    LOGGER.info("%d rows", len(rows))
    return np.asarray(rows, dtype=np.float32)


def augment(table: np.ndarray, copies: int, σ: float = 0.01) -> np.ndarray:
    rng = np.random.default_rng(99)
    tables = [table * (1 + σ * rng.standard_normal(table.shape)) for _ in range(copies)]
    return np.concatenate(tables).astype(np.float32)


class Standardize(nn.Module):
    mean: Tensor
    scale: Tensor

    def __init__(self, values: Tensor):
        super().__init__()
        self.register_buffer("mean", values.mean(0))
        self.register_buffer("scale", values.std(0) + 1e-6)

    def forward(self, values: Tensor) -> Tensor:
        return (values - self.mean) / self.scale


class FourierFeatures(nn.Module):
    def __init__(self, size: int, count: int):
        super().__init__()
        self.frequencies = nn.Parameter(torch.randn(size, count))

    def forward(self, x: Tensor) -> Tensor:
        phase = 2 * math.pi * x @ self.frequencies
        return torch.cat((x, phase.sin(), phase.cos()), dim=-1)


class Member(nn.Module):
    def __init__(self, inputs: int = 4, width: int = 48, depth: int = 3, p_drop: float = 0.1):
        super().__init__()
        self.features = FourierFeatures(inputs, 6)
        size = inputs + 12
        blocks: list[nn.Module] = []
        for _ in range(depth):
            blocks += [nn.Linear(size, width), nn.LayerNorm(width), nn.Tanh(), nn.Dropout(p_drop)]
            size = width
        self.body = nn.Sequential(*blocks)
        self.mean = nn.Linear(size, 1)
        self.log_variance = nn.Linear(size, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.body(self.features(x))
        return self.mean(y).squeeze(-1), self.log_variance(y).squeeze(-1).clamp(-8, 8)


def gaussian_nll(prediction: tuple[Tensor, Tensor], target: Tensor) -> Tensor:
    mean, log_variance = prediction
    return 0.5 * (log_variance + (target - mean) ** 2 * torch.exp(-log_variance)).mean()


class Ensemble:
    """N networks, one set of stacked parameters."""

    def __init__(self, make: Callable[[], nn.Module], count: int):
        members = [make() for _ in range(count)]
        self.parameters, self.buffers = stack_module_state(members)
        self.skeleton = make().to("meta")
        self.count = count
        self.momenta = {name: torch.zeros_like(value) for name, value in self.parameters.items()}
        LOGGER.info("%d members, %d parameters", count, self.size)

    @property
    def size(self) -> int:
        shapes = (value.shape[1:] for value in self.parameters.values())
        return sum(reduce(operator.mul, shape, 1) for shape in shapes)

    def call(self, parameters: Mapping[str, Tensor], buffers: Mapping[str, Tensor], x: Tensor):
        return functional_call(self.skeleton, (parameters, buffers), (x,))

    def loss(self, parameters, buffers, x: Tensor, y: Tensor) -> Tensor:
        return gaussian_nll(self.call(parameters, buffers, x), y)

    def step(self, x: Tensor, y: Tensor, lr: float, momentum: float = 0.9) -> Tensor:
        self.skeleton.train()
        gradients, losses = vmap(grad_and_value(self.loss), in_dims=(0, 0, 0, 0))(
            self.parameters, self.buffers, x, y
        )
        with torch.no_grad():
            for name, gradient in gradients.items():
                self.momenta[name].mul_(momentum).add_(gradient)
                self.parameters[name].sub_(lr * self.momenta[name])
        return losses

    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.skeleton.eval()
        mean, log_variance = vmap(self.call, in_dims=(0, 0, None))(self.parameters, self.buffers, x)
        total = log_variance.exp().mean(0) + mean.var(0)
        return mean.mean(0), total.sqrt()


def bootstrap(x: Tensor, y: Tensor, count: int, size: int) -> Iterable[tuple[Tensor, Tensor]]:
    while True:
        index = torch.randint(0, len(x), (count, size))
        yield x[index], y[index]


def coverage(mean: Tensor, spread: Tensor, target: Tensor, quantile: float = 1.96) -> float:
    inside = (target - mean).abs() <= quantile * spread
    return inside.float().mean().item()


def main(steps: int = 5) -> None:
    torch.manual_seed(2)
    table = torch.from_numpy(augment(read_table(RAW), copies=8))
    inputs, target = table[:, :-1], table[:, -1]
    scaler = Standardize(inputs)
    x, y = scaler(inputs), (target - target.mean()) / target.std()
    ensemble = Ensemble(Member, N_MEMBERS)
    mean, spread = ensemble.predict(x)
    LOGGER.info("before: coverage %.2f", coverage(mean, spread, y))
    for step, (xb, yb) in zip(range(steps), bootstrap(x, y, N_MEMBERS, 16)):
        losses = ensemble.step(xb, yb, lr=1e-3)
        LOGGER.info("step %d: %s", step, " ".join(f"{loss:.3f}" for loss in losses.tolist()))
    mean, spread = ensemble.predict(x)
    low, high = mean - 1.96 * spread, mean + 1.96 * spread
    LOGGER.info("after: coverage %.2f, width %.2f", coverage(mean, spread, y), (high - low).mean())


if __name__ == "__main__":
    main()
