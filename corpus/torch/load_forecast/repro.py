# Day-ahead load forecast, stripped down from our notebook (sorry for the globals).
# torch 2.9.1, CPU only, ubuntu 22.04.  Forward is fine and prints a loss, the BACKWARD says
#   RuntimeError: Found dtype Double but expected Float
# I do not use double anywhere??
import math
import sys
import warnings
from dataclasses import asdict, dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", category=UserWarning)
torch.set_printoptions(precision=4, sci_mode=False)

HOURS = 24
WEEK = 7 * HOURS


@dataclass
class Config:
    history: int = WEEK
    horizon: int = HOURS
    hidden: int = 48
    layers: int = 2
    dropout: float = 0.1
    quantiles: Tuple[float, ...] = (0.1, 0.5, 0.9)
    lr: float = 2e-3
    epochs: int = 3
    batch: int = 32
    patience: int = 2
    clip: Optional[float] = 0.5
    stations: List[str] = field(default_factory=lambda: ["north", "harbour", "mill", "ring-east"])


cfg = Config()
for name, value in asdict(cfg).items():
    print(f"{name:>10}: {value}")


# ---------------------------------------------------------------- data
def simulate(station: int, hours: int = 60 * HOURS, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed + station)
    t = np.arange(hours)
    day = 0.6 * np.sin(2 * math.pi * t / HOURS - 1.2)
    week = 0.2 * np.cos(2 * math.pi * t / WEEK)
    trend = 0.0004 * t * (station + 1)
    noise = rng.normal(0, 0.05, hours)
    load = 1.5 + day + week + trend + noise
    load[rng.integers(0, hours, 6)] *= 1.4  # peaks
    return load


def calendar(hours: int) -> np.ndarray:
    t = np.arange(hours)
    return np.stack(
        [
            np.sin(2 * math.pi * t / HOURS),
            np.cos(2 * math.pi * t / HOURS),
            ((t // HOURS) % 7 >= 5).astype(np.float64),
        ],
        axis=1,
    )


class Scaler:
    """z-score per station, kept so that we can invert it for the plots"""

    def __init__(self) -> None:
        self.mean = 0.0
        self.std = 1.0

    def fit(self, values: np.ndarray) -> "Scaler":
        self.mean = float(values.mean())
        self.std = float(values.std()) or 1.0
        return self

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return (values - self.mean) / self.std

    def invert(self, values: Tensor) -> Tensor:
        return values * self.std + self.mean


def windows(values: np.ndarray, extra: np.ndarray, step: int = 6) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
    last = len(values) - cfg.history - cfg.horizon
    for start in range(0, last, step):
        middle = start + cfg.history
        inputs = np.concatenate([values[start:middle, None], extra[start:middle]], axis=1)
        yield inputs, values[middle : middle + cfg.horizon]


inputs, targets = [], []
scalers: Dict[str, Scaler] = {}
for number, station in enumerate(cfg.stations):
    load = simulate(number)
    scalers[station] = Scaler().fit(load)
    for x, y in windows(scalers[station](load), calendar(len(load))):
        inputs.append(torch.tensor(x, dtype=torch.float32))
        targets.append(torch.from_numpy(y.copy()))

x_all = torch.stack(inputs)
y_all = torch.stack(targets)
cut = int(0.8 * len(x_all))
train = DataLoader(TensorDataset(x_all[:cut], y_all[:cut]), batch_size=cfg.batch, shuffle=True, drop_last=True)
valid = DataLoader(TensorDataset(x_all[cut:], y_all[cut:]), batch_size=cfg.batch)
print("windows:", tuple(x_all.shape), "->", tuple(y_all.shape))


# ---------------------------------------------------------------- model
class Attention(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(size) / math.sqrt(size))
        self.project = nn.Linear(size, size)

    def forward(self, states: Tensor) -> Tensor:
        scores = torch.tanh(self.project(states)) @ self.query
        weights = scores.softmax(dim=1).unsqueeze(-1)
        return (weights * states).sum(dim=1)


class Forecaster(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.encoder = nn.GRU(features, cfg.hidden, cfg.layers, batch_first=True, dropout=cfg.dropout)
        self.attention = Attention(cfg.hidden)
        self.head = nn.Sequential(
            nn.LayerNorm(cfg.hidden),
            nn.Linear(cfg.hidden, 2 * cfg.hidden),
            nn.GELU(),
            nn.Linear(2 * cfg.hidden, cfg.horizon * len(cfg.quantiles)),
        )

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.encoder(x)
        out = self.head(self.attention(states))
        return out.unflatten(-1, (cfg.horizon, len(cfg.quantiles)))


def pinball(predicted: Tensor, target: Tensor) -> Tensor:
    total = predicted.new_zeros(())
    for position, quantile in enumerate(cfg.quantiles):
        error = target - predicted[..., position]
        total = total + torch.maximum(quantile * error, (quantile - 1) * error).mean().float()
    return total


class EarlyStopping:
    def __init__(self, patience: int) -> None:
        self.best, self.bad, self.patience = math.inf, 0, patience

    def __call__(self, value: float) -> bool:
        self.bad = 0 if value < self.best else self.bad + 1
        self.best = min(value, self.best)
        return self.bad > self.patience


torch.manual_seed(0)
model = Forecaster(features=4)
optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
mse = nn.MSELoss()
stop = EarlyStopping(cfg.patience)

for epoch in range(cfg.epochs):
    model.train()
    running = 0.0
    for batch, (x, y) in enumerate(train):
        optimizer.zero_grad()
        prediction = model(x)
        median = prediction[..., len(cfg.quantiles) // 2]
        loss = mse(median, y)
        if epoch > 0:
            loss = loss + 0.3 * pinball(prediction, y)
        running += loss.item()
        loss.backward()
        if cfg.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        optimizer.step()

    model.eval()
    with torch.inference_mode():
        score = sum(pinball(model(x), y).item() for x, y in valid) / len(valid)
    scheduler.step(score)
    print(f"epoch {epoch}: train {running / len(train):.4f}  valid {score:.4f}", file=sys.stderr)
    if stop(score):
        break
