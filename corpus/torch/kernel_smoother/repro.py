"""
Custom op written in numpy (will be C++ later), used inside a compiled denoiser for our ECG traces.

`torch.library.opcheck` is on my list but I did not get to it. Eager works, `backend="aot_eager"`
works, the default backend fails with

    AssertionError: expected size 4==4, stride 125==63 at dim=1; expected size 125==63 ...

Versions: PyTorch 2.9.1, numpy 2.x, Python 3.11, no GPU
"""

import argparse
import collections
import itertools
import time
from contextlib import nullcontext

import numpy as np
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

Trace = collections.namedtuple("Trace", "signal clean rate")


# --------------------------------------------------------------------------- the operator
@torch.library.custom_op("ecg::smooth", mutates_args=())
def smooth(signal: torch.Tensor, kernel: torch.Tensor, stride: int) -> torch.Tensor:
    array = signal.detach().cpu().numpy()
    weights = kernel.detach().cpu().numpy()
    half = len(weights) // 2
    padded = np.pad(array, ((0, 0), (0, 0), (half, half)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis=-1)
    out = (windows[:, :, ::stride] * weights).sum(-1)
    return torch.from_numpy(np.ascontiguousarray(out, dtype=array.dtype))


@smooth.register_fake
def _(signal, kernel, stride):
    batch, leads, samples = signal.shape
    return signal.new_empty(batch, leads, samples // stride)


def setup_context(ctx, inputs, output):
    signal, kernel, stride = inputs
    ctx.save_for_backward(kernel)
    ctx.shape, ctx.stride = signal.shape, stride


def smooth_backward(ctx, grad):
    (kernel,) = ctx.saved_tensors
    up = grad.new_zeros(ctx.shape)
    up[..., :: ctx.stride] = grad
    flipped = kernel.flip(0)[None, None]
    leads = up.shape[1]
    back = nn.functional.conv1d(up, flipped.expand(leads, 1, -1), padding=kernel.numel() // 2, groups=leads)
    return back, None, None


smooth.register_autograd(smooth_backward, setup_context=setup_context)


# --------------------------------------------------------------------------- data
def heartbeat(samples, rate, bpm, rng):
    t = np.arange(samples) / rate
    phase = (t * bpm / 60) % 1.0
    waves = [(0.18, 0.025, 0.15), (0.36, 0.010, -0.12), (0.40, 0.012, 1.1), (0.44, 0.011, -0.25), (0.68, 0.05, 0.3)]
    beat = sum(height * np.exp(-((phase - center) ** 2) / (2 * width**2)) for center, width, height in waves)
    drift = 0.1 * np.sin(2 * np.pi * 0.2 * t + rng.uniform(0, 6))
    return beat, drift


def traces(count, leads, samples, rate=250, seed=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        clean, noisy = [], []
        for _ in range(leads):
            beat, drift = heartbeat(samples, rate, rng.integers(55, 110), rng)
            clean.append(beat)
            noisy.append(beat + drift + rng.normal(0, 0.08, samples))
        yield Trace(
            torch.tensor(np.array(noisy), dtype=torch.float32),
            torch.tensor(np.array(clean), dtype=torch.float32),
            rate,
        )


def collate(items):
    items = list(items)
    return torch.stack([i.signal for i in items]), torch.stack([i.clean for i in items])


# --------------------------------------------------------------------------- model
def gaussian(width):
    x = torch.arange(width) - (width - 1) / 2
    w = torch.exp(-(x**2) / (2 * (width / 5) ** 2))
    return w / w.sum()


class SmoothDown(nn.Module):
    def __init__(self, width, stride):
        super().__init__()
        self.stride = stride
        self.register_buffer("kernel", gaussian(width))
        self.gain = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.gain * smooth(x, self.kernel, self.stride)


class Residual(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv1 = nn.Conv1d(channels, channels, 5, padding=2 * dilation, dilation=dilation)
        self.conv2 = nn.Conv1d(channels, channels, 1)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, x):
        return x + self.conv2(torch.relu(self.norm(self.conv1(x))))


class Denoiser(nn.Module):
    def __init__(self, leads, channels, width=9, stride=2, blocks=2):
        super().__init__()
        self.down = SmoothDown(width, stride)
        self.lift = nn.Conv1d(leads, channels, 1)
        self.blocks = nn.Sequential(*(Residual(channels, 2**i) for i in range(blocks)))
        self.drop = nn.Conv1d(channels, leads, 1)

    def forward(self, x):
        base = self.down(x)
        return base + self.drop(self.blocks(self.lift(base)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--leads", type=int, default=4)
    parser.add_argument("--samples", type=int, default=125)
    parser.add_argument("--channels", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--profile", action="store_true")
    opts = parser.parse_args()

    torch.manual_seed(opts.leads)
    model = Denoiser(opts.leads, opts.channels)
    compiled = torch.compile(model, backend=opts.backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=opts.steps)
    stream = itertools.cycle(list(traces(8, opts.leads, opts.samples)))
    watch = profile(activities=[ProfilerActivity.CPU]) if opts.profile else nullcontext()

    with watch as prof:
        for step in range(opts.steps):
            begin = time.monotonic()
            signal, clean = collate(itertools.islice(stream, 4))
            with record_function("forward"):
                predicted = compiled(signal)
            loss = nn.functional.smooth_l1_loss(predicted, clean[..., ::2])
            optimizer.zero_grad()
            with record_function("backward"):
                loss.backward()
            optimizer.step()
            scheduler.step()
            print("step %d loss %.4f lr %.3f %.2fs" % (step, loss, scheduler.get_last_lr()[0], time.monotonic() - begin))
    if prof is not None:
        print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))


if __name__ == "__main__":
    main()
