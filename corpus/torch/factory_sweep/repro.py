#!/usr/bin/env python
"""Compares eager and torch.compile for inputs from all kinds of factories.

Usage: python sweep.py [name ...]

Prints a line per combination, ends with status 1 if there are differences. Today it did not get that
far: Segmentation fault (core dumped), no Python traceback. The last line printed is `zerotensor`.
"""
from __future__ import print_function

import collections
import inspect
import itertools
import os
import platform
import sys
import textwrap
import traceback
import warnings

import torch

warnings.filterwarnings("ignore")
torch.manual_seed(20240229)

Result = collections.namedtuple("Result", "factory program status detail")
RESULTS = []
FACTORIES = collections.OrderedDict()
PROGRAMS = collections.OrderedDict()


def factory(fn):
    FACTORIES[fn.__name__] = fn
    return fn


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


# ---- where tensors come from -------------------------------------------------
@factory
def plain(n):
    return torch.linspace(-1, 1, n * n).reshape(n, n)


@factory
def expanded(n):
    return torch.arange(1.0, n + 1).expand(n, n)


@factory
def transposed(n):
    return plain(n).mT


@factory
def strided(n):
    return torch.as_strided(torch.ones(3 * n * n), (n, n), (2 * n, 2), 1)


@factory
def scalar_like(n):
    return torch.tensor(float(n))


@factory
def zerotensor(n):
    # what forward-mode AD uses for tangents that are zero
    return torch._efficientzerotensor((n, n))


@factory
def conjugated(n):
    return torch.view_as_real(torch.polar(plain(n), plain(n)).conj().resolve_conj())[..., 0]


@factory
def negative_bit(n):
    return torch.complex(plain(n), plain(n)).conj().imag


@factory
def parameter(n):
    return torch.nn.Parameter(plain(n) / n)


# ---- what is done with them --------------------------------------------------
@program
def chain(x):
    y = torch.sin(x) * 2
    return torch.relu(y + 0.5)


@program
def reduce_all(x):
    return (x * x).sum() + x.amax()


@program
def index(x):
    flat = x.reshape(-1)
    return flat[::2] - flat[: flat[::2].shape[0]].flip(0)


@program
def softmax(x):
    return torch.softmax(x.reshape(1, -1), dim=-1).cumsum(-1)


# ---- machinery ---------------------------------------------------------------
class Unsupported(Exception):
    pass


class Sweep:
    def __init__(self, size=6, rtol=1e-4, atol=1e-5, verbose=True):
        self.size, self.rtol, self.atol, self.verbose = size, rtol, atol, verbose

    def compile(self, fn):
        torch._dynamo.reset()
        return torch.compile(fn, fullgraph=True, dynamic=False, options={"epilogue_fusion": True})

    def expect(self, name, fn):
        torch.manual_seed(self.size)
        x = FACTORIES[name](self.size)
        try:
            return x, fn(x)
        except (RuntimeError, NotImplementedError) as error:
            raise Unsupported(str(error).splitlines()[0])

    def one(self, name, fn):
        try:
            x, wanted = self.expect(name, fn)
        except Unsupported as error:
            return Result(name, fn.__name__, "skip", str(error))
        try:
            got = self.compile(fn)(x)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            detail = "%s at %s:%d" % (type(error).__name__, os.path.basename(last.filename), last.lineno)
            return Result(name, fn.__name__, "error", detail)
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return Result(name, fn.__name__, "meta", "%s/%s" % (got.shape, got.dtype))
        if not torch.allclose(got, wanted, rtol=self.rtol, atol=self.atol, equal_nan=True):
            return Result(name, fn.__name__, "wrong", "%.3e" % (got - wanted).abs().max().item())
        return Result(name, fn.__name__, "ok", "")

    def run(self, names):
        for name, fn in itertools.product(names, PROGRAMS.values()):
            if self.verbose:
                print("%-14s %-12s" % (name, fn.__name__), end=" ", flush=True)
            result = self.one(name, fn)
            RESULTS.append(result)
            if self.verbose:
                print(result.status, result.detail)

    def report(self):
        counts = collections.Counter(result.status for result in RESULTS)
        print(dict(counts))
        for result in RESULTS:
            if result.status in ("wrong", "meta", "error"):
                source = inspect.getsource(PROGRAMS[result.program])
                print(textwrap.indent(source, "    | "))
                print("    ^", result.factory, result.status, result.detail)
        return 1 if counts.keys() & {"wrong", "meta", "error"} else 0


def banner():
    info = [("torch", torch.__version__), ("python", platform.python_version()), ("cpu", platform.machine())]
    info.append(("threads", torch.get_num_threads()))
    info.append(("mkldnn", torch.backends.mkldnn.is_available()))
    print(textwrap.fill(", ".join("%s %s" % pair for pair in info), 80))


def main(names):
    unknown = [name for name in names if name not in FACTORIES]
    if unknown:
        print("unknown:", *unknown, file=sys.stderr)
        return 2
    banner()
    sweep = Sweep()
    quick = ["scalar_like", "zerotensor", "negative_bit", "parameter"]
    sweep.run(names or quick)
    return sweep.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
