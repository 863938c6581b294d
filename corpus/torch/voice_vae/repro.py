"""VAE over mel spectrogram snippets, cyclical KL annealing.

The error

    RuntimeError: one of the variables needed for gradient computation has been modified by an
    inplace operation: [torch.FloatTensor [12, 20]], which is output 0 of ExpBackward0, is at
    version 1; expected version 0 instead.

started when I added the "variance floor". anomaly mode points at `.exp()` but not at who modifies it.
"""
import contextlib
import enum
import math
import typing
from dataclasses import dataclass, field
from functools import cached_property, partial

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

MelBatch = typing.NamedTuple("MelBatch", [("mel", torch.Tensor), ("lengths", torch.Tensor), ("speaker", torch.Tensor)])


class Reduction(enum.Enum):
    MEAN = "mean"
    SUM = "sum"


class Encoder(typing.Protocol):
    def __call__(self, batch: MelBatch) -> typing.Tuple[torch.Tensor, torch.Tensor]: ...


@dataclass
class AudioConfig:
    sample_rate: int = 16_000
    hop: int = 256
    n_mels: int = 40
    seconds: float = 0.75

    @cached_property
    def frames(self) -> int:
        return math.ceil(self.seconds * self.sample_rate / self.hop)


@dataclass
class ModelConfig:
    audio: AudioConfig = field(default_factory=AudioConfig)
    latent: int = 20
    hidden: int = 64
    speakers: int = 5
    speaker_dim: int = 8
    variance_floor: float = 1e-3
    bidirectional: bool = True
    beta: float = 4.0
    cycle: int = 10
    free_bits: float = 0.05


def mel_snippets(config: ModelConfig, size: int, steps: int, seed: int = 77) -> typing.Iterator[MelBatch]:
    generator = torch.Generator().manual_seed(seed)
    audio = config.audio
    for _ in range(steps):
        base = torch.rand(size, audio.n_mels, 1, generator=generator)
        wave = torch.sin(torch.linspace(0, 6 * math.pi, audio.frames))
        mel = base * (1 + wave) + 0.05 * torch.randn(size, audio.n_mels, audio.frames, generator=generator)
        lengths = torch.randint(audio.frames // 2, audio.frames + 1, (size,), generator=generator)
        speaker = torch.randint(0, config.speakers, (size,), generator=generator)
        yield MelBatch(mel, lengths, speaker)


def length_mask(lengths: torch.Tensor, longest: int) -> torch.Tensor:
    return torch.arange(longest, device=lengths.device)[None] < lengths[:, None]


class RecurrentEncoder(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.floor = config.variance_floor
        self.lstm = nn.LSTM(
            config.audio.n_mels,
            config.hidden,
            num_layers=1,
            batch_first=True,
            bidirectional=config.bidirectional,
        )
        width = config.hidden * (2 if config.bidirectional else 1)
        self.to_mean = nn.Linear(width, config.latent)
        self.to_log_std = nn.Linear(width, config.latent)

    def forward(self, batch: MelBatch):
        packed = nn.utils.rnn.pack_padded_sequence(
            batch.mel.transpose(1, 2), batch.lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (state, _) = self.lstm(packed)
        state = torch.cat(tuple(state), dim=-1)
        mean = self.to_mean(state)
        std = self.to_log_std(state).clamp(-6, 4).exp()
        std += self.floor
        return mean, std


class FilmDecoder(nn.Module):
    """Transposed convolutions, modulated by the speaker."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.frames = config.audio.frames
        self.speakers = nn.Embedding(config.speakers, config.speaker_dim)
        self.film = nn.Linear(config.speaker_dim, 2 * config.hidden)
        self.start = nn.Linear(config.latent, config.hidden * 6)
        make = partial(nn.ConvTranspose1d, kernel_size=4, stride=2, padding=1)
        self.ups = nn.ModuleList([make(config.hidden, config.hidden) for _ in range(3)])
        self.out = nn.Conv1d(config.hidden, config.audio.n_mels, 3, padding=1)

    def forward(self, z, speaker):
        scale, shift = self.film(self.speakers(speaker)).unsqueeze(-1).chunk(2, dim=1)
        x = self.start(z).unflatten(1, (-1, 6))
        for up in self.ups:
            x = F.elu(up(x) * (1 + scale) + shift)
        return F.interpolate(self.out(x), size=self.frames, mode="linear", align_corners=False)


class MelVAE(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder: Encoder = RecurrentEncoder(config)
        self.decoder = FilmDecoder(config)

    def forward(self, batch: MelBatch):
        mean, std = self.encoder(batch)
        posterior = Normal(mean, std)
        z = posterior.rsample() if self.training else mean
        return self.decoder(z, batch.speaker), posterior

    def losses(self, batch: MelBatch, reduction: Reduction = Reduction.MEAN):
        rebuilt, posterior = self(batch)
        mask = length_mask(batch.lengths, rebuilt.shape[-1]).unsqueeze(1)
        error = (F.l1_loss(rebuilt, batch.mel, reduction="none") * mask).sum((1, 2)) / mask.sum((1, 2))
        prior = Normal(torch.zeros_like(posterior.mean), torch.ones_like(posterior.stddev))
        kl = kl_divergence(posterior, prior).clamp(min=self.config.free_bits).sum(-1)
        if reduction is Reduction.SUM:
            return error.sum(), kl.sum()
        return error.mean(), kl.mean()


def anneal(step: int, config: ModelConfig) -> float:
    position = (step % config.cycle) / config.cycle
    return config.beta * min(1.0, 2 * position)


def fit(config: ModelConfig, steps: int = 4, anomaly: bool = False) -> typing.List[float]:
    torch.manual_seed(11)
    model = MelVAE(config).train()
    groups = [
        {"params": model.encoder.parameters(), "lr": 5e-4},
        {"params": model.decoder.parameters(), "lr": 1e-3},
    ]
    optimizer = torch.optim.RAdam(groups)
    context = torch.autograd.detect_anomaly() if anomaly else contextlib.nullcontext()
    history = []
    with context:
        for step, batch in enumerate(mel_snippets(config, 12, steps)):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
                rebuilt, kl = model.losses(batch)
                loss = rebuilt + anneal(step + 1, config) * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(loss.item())
    return history


if __name__ == "__main__":
    for value in fit(ModelConfig()):
        print(f"{value:.4f}")
