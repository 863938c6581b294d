#!/usr/bin/env python3
# export_clip_model.py - convert the trained clip classifier for the runtime on the recorder
#
# Problem: torch.export.export() with a dynamic batch says
#     torch._dynamo.exc.UserError: Constraints violated (frames)! ...
# and suggests something about 8*_frames. I tried Dim.AUTO, then the batch is silently fixed.
# The model used to export fine with torch.onnx (opset 13, dynamic_axes).
import json
import os
import re
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn as nn
from torch.export import Dim, export, save

SEGMENTS = 8
LABELS = """
    idle walking running falling
    lifting climbing waving
""".split()

# old checkpoint names -> names of this file
PATTERNS = [
    (re.compile(r"^module\."), ""),
    (re.compile(r"\bbackbone\.layer(\d)"), r"stages.\1"),
    (re.compile(r"\bfc_action\b"), "head"),
]


class Settings(NamedTuple):
    width: int = 16
    depth: tuple = (1, 2)
    shift_fraction: int = 8
    image: int = 32
    opset: int = 18
    strict: bool = True
    half: bool = False


class TemporalShift(nn.Module):
    """Moves some channels one frame back and some one frame forward (TSM)."""

    def __init__(self, inner: nn.Module, segments: int = SEGMENTS, fraction: int = 8) -> None:
        super().__init__()
        self.inner = inner
        self.segments = segments
        self.fraction = fraction

    def forward(self, x):
        frames, channels, height, width = x.shape
        x = x.view(-1, self.segments, channels, height, width)
        fold = channels // self.fraction
        back, ahead, rest = x.split([fold, fold, channels - 2 * fold], dim=2)
        back = torch.cat([back[:, 1:], torch.zeros_like(back[:, :1])], dim=1)
        ahead = torch.cat([torch.zeros_like(ahead[:, :1]), ahead[:, :-1]], dim=1)
        x = torch.cat([back, ahead, rest], dim=2)
        return self.inner(x.reshape(-1, channels, height, width))


def conv_bn(cin, cout, kernel=3, stride=1, groups=1, act=True):
    layers = OrderedDict()
    layers["conv"] = nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False)
    layers["bn"] = nn.BatchNorm2d(cout)
    if act:
        layers["act"] = nn.Hardswish()
    return nn.Sequential(layers)


class InvertedResidual(nn.Module):
    def __init__(self, cin, cout, stride, expand=3, shift=True, fraction=8):
        super().__init__()
        hidden = cin * expand
        first = conv_bn(cin, hidden, 1)
        self.expand = TemporalShift(first, SEGMENTS, fraction) if shift else first
        self.depthwise = conv_bn(hidden, hidden, 3, stride, groups=hidden)
        self.project = conv_bn(hidden, cout, 1, act=False)
        self.keep = stride == 1 and cin == cout

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.keep else y


class ClipNet(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        width = settings.width
        self.stem = conv_bn(3, width, 3, stride=2)
        stages, channels = [], width
        for number, depth in enumerate(settings.depth):
            blocks = []
            for block in range(depth):
                stride = 2 if block == 0 and number else 1
                out = width * 2**number
                blocks.append(InvertedResidual(channels, out, stride, shift=block == 0, fraction=settings.shift_fraction))
                channels = out
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.ModuleList(stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, len(LABELS))

    def forward(self, frames):
        x = self.stem(frames)
        for stage in self.stages:
            x = stage(x)
        x = self.pool(x).flatten(1)
        scores = self.head(x)
        return scores.unflatten(0, (-1, SEGMENTS)).mean(1).softmax(-1)


def translate(state: dict) -> dict:
    renamed = OrderedDict()
    for name, value in state.items():
        for pattern, replacement in PATTERNS:
            name = pattern.sub(replacement, name)
        renamed[name] = value
    return renamed


def load(model: nn.Module, path) -> list:
    if path is None or not Path(path).exists():
        print("no checkpoint, random weights", file=sys.stderr)
        return []
    state = torch.load(path, map_location="cpu", weights_only=True)
    result = model.load_state_dict(translate(state.get("state_dict", state)), strict=False)
    return list(result.missing_keys) + list(result.unexpected_keys)


def count_activations(model, example):
    sizes: dict[str, Any] = {}
    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            def hook(m, i, o, name=name):
                sizes[name] = list(o.shape)

            hooks.append(module.register_forward_hook(hook))
    with torch.no_grad():
        out = model(example)
    for hook in hooks:
        hook.remove()
    return out, sizes


def main(argv):
    settings = Settings(strict="--non-strict" not in argv)
    torch.manual_seed(0)
    model = ClipNet(settings).eval()
    problems = load(model, os.environ.get("CLIP_CHECKPOINT"))
    if problems:
        print("names that do not fit:", *problems[:5])
    example = torch.rand(2 * SEGMENTS, 3, settings.image, settings.image)
    out, sizes = count_activations(model, example)
    print(json.dumps({"layers": len(sizes), "output": list(out.shape)}))

    frames = Dim("frames", min=SEGMENTS, max=64 * SEGMENTS)
    program = export(model, (example,), dynamic_shapes={"frames": {0: frames}}, strict=settings.strict)

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "clip.pt2"
        save(program, target)
        print(f"{target.name}: {target.stat().st_size / 1024:.0f} KiB")
    again = program.module()(example[:SEGMENTS])
    torch.testing.assert_close(again, out[:1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
