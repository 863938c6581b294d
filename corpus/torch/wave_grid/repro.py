# 2D wave equation with a moving source, stepped by a compiled function. Any grid size must work, so
# mark everything dynamic. Result:
#
#   torch._inductor.exc.InductorError: CppCompileError: C++ compile error
#   ... error: invalid operands of types 'double' and 'long int' to binary 'operator%'
#
# g++ 12.2 and 13.3 both. With dynamic=False it compiles (twice, for the two grids).
import argparse
import collections
import contextlib
import math
import os
import platform
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

Grid = collections.namedtuple("Grid", ["rows", "columns", "dx", "dt"])
Source = collections.namedtuple("Source", ["frequency", "radius", "amplitude"])

PRESETS = {
    "pond": dict(speed=1.0, damping=0.02, boundary="reflect"),
    "room": dict(speed=1.4, damping=0.10, boundary="absorb"),
    "string": dict(speed=0.7, damping=0.00, boundary="circular"),
}


class Recorder:
    """Keeps a few numbers per step, prints them as a table."""

    def __init__(self, every=10):
        self.every = every
        self.rows = []

    def __call__(self, step, time_, field):
        if step % self.every:
            return
        energy = field.square().mean().item()
        peak = field.abs().amax().item()
        self.rows.append((step, time_, energy, peak))

    def __str__(self):
        lines = ["%6s %8s %12s %10s" % ("step", "t", "energy", "peak")]
        lines += ["%6d %8.3f %12.3e %10.4f" % row for row in self.rows]
        return "\n".join(lines)

    def check(self):
        if any(not math.isfinite(value) for row in self.rows for value in row):
            raise ArithmeticError("the simulation blew up")


def laplacian(field, dx, boundary):
    stencil = torch.tensor([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]]) / dx**2
    mode = "circular" if boundary == "circular" else "replicate"
    padded = F.pad(field[None, None], (1, 1, 1, 1), mode=mode)
    return F.conv2d(padded, stencil[None, None].to(field.dtype))[0, 0]


def sponge(rows, columns, width=6):
    """1 inside, falls to 0 towards the edges"""
    y = torch.arange(rows, dtype=torch.float32)
    x = torch.arange(columns, dtype=torch.float32)
    dy = torch.minimum(y, rows - 1 - y)[:, None]
    dx = torch.minimum(x, columns - 1 - x)[None, :]
    return (torch.minimum(dy, dx) / width).clamp(0, 1)


def source_term(field, step, source):
    rows, columns = field.shape
    # the source walks along the diagonal and wraps around every third of the grid
    cy = rows / 4 + step * 0.5
    cx = (columns / 3) % 7.5 + step * 0.25
    y = torch.arange(rows, device=field.device)[:, None] - cy
    x = torch.arange(columns, device=field.device)[None, :] - cx
    blob = torch.exp(-(x * x + y * y) / (2 * source.radius**2))
    return source.amplitude * math.sin(source.frequency * step) * blob


def make_step(preset, source):
    speed, damping, boundary = preset["speed"], preset["damping"], preset["boundary"]

    def step(now, before, number, dt, dx, mask):
        force = source_term(now, number, source)
        acceleration = speed**2 * laplacian(now, dx, boundary) + force
        later = (2 - damping * dt) * now - (1 - damping * dt) * before + dt * dt * acceleration
        if boundary == "absorb":
            later = later * mask
        return later, now

    return step


@contextlib.contextmanager
def stopwatch(label):
    begin = time.perf_counter()
    yield
    print("%-10s %.2f s" % (label, time.perf_counter() - begin), file=sys.stderr)


def simulate(step, grid, steps, recorder):
    generator = torch.Generator()
    generator.manual_seed(grid.rows * 1000 + grid.columns)
    now = 0.01 * torch.randn(grid.rows, grid.columns, generator=generator)
    before = now.clone()
    mask = sponge(grid.rows, grid.columns)
    for number in range(steps):
        now, before = step(now, before, number, grid.dt, grid.dx, mask)
        recorder(number, number * grid.dt, now)
    recorder.check()
    return now


def describe():
    try:
        compiler = subprocess.run(
            [os.environ.get("CXX", "g++"), "--version"], capture_output=True, text=True, timeout=10
        ).stdout.splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        compiler = "no compiler"
    print("torch", torch.__version__, "|", platform.machine(), "|", compiler)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="waves")
    parser.add_argument("preset", nargs="?", default="pond", choices=sorted(PRESETS))
    parser.add_argument("--grid", action="append", metavar="ROWSxCOLUMNS", help="may be given several times")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--dx", type=float, default=1.0)
    parser.add_argument("--courant", type=float, default=0.5)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    options = parser.parse_args(argv)
    describe()
    torch.set_num_threads(1)
    preset = PRESETS[options.preset]
    source = Source(frequency=0.4, radius=2.5, amplitude=0.8)
    step = make_step(preset, source)
    fast = torch.compile(step, dynamic=True, fullgraph=False) if options.compile else step
    for text in options.grid or ["48x64", "60x50"]:
        rows, columns = map(int, text.split("x"))
        dt = options.courant * options.dx / preset["speed"]
        grid = Grid(rows, columns, options.dx, dt)
        recorder = Recorder()
        with stopwatch("eager"):
            wanted = simulate(step, grid, options.steps, recorder)
        with stopwatch("compiled"):
            got = simulate(fast, grid, options.steps, Recorder(every=1000))
        print(recorder)
        print("difference", (wanted - got).abs().max().item())


if __name__ == "__main__":
    main()
