"""Weight-only int8 / packed int4 tensors as a subclass, so that any nn.Linear can take them.

eager: ok (see the asserts in `selftest`).
torch.compile: InternalTorchDynamoError, but only with symmetric=True !?
My guess is the zero point, which does not exist then.

pip list | grep torch -> torch 2.9.1
"""
from __future__ import annotations

import enum
import functools
import logging
import sys
import unittest
from typing import Any, Callable, Optional, Union

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_map_only

aten = torch.ops.aten
_TABLE: dict[Any, Callable] = {}
log = logging.getLogger("packed")
Shape = Union[torch.Size, "tuple[int, ...]"]


class Layout(enum.IntEnum):
    INT8 = 8
    INT4 = 4

    @property
    def per_byte(self) -> int:
        return 8 // self.value


def implements(*ops):
    def register(fn):
        for op in ops:
            _TABLE[op] = fn
        return fn

    return register


def pack(values: torch.Tensor, layout: Layout) -> torch.Tensor:
    if layout is Layout.INT8:
        return values.to(torch.int8)
    low, high = values[..., ::2] & 0xF, values[..., 1::2] & 0xF
    return (low | (high << 4)).to(torch.uint8)


def unpack(data: torch.Tensor, layout: Layout) -> torch.Tensor:
    if layout is Layout.INT8:
        return data.to(torch.int32)
    data = data.to(torch.int32)
    both = torch.stack([data & 0xF, data >> 4], dim=-1).flatten(-2)
    return torch.where(both > 7, both - 16, both)


class PackedTensor(torch.Tensor):
    """data: packed integers (rows, columns / per_byte); scale: (rows, groups); zero: the same or None"""

    data_packed: torch.Tensor
    scale: torch.Tensor
    zero: Optional[torch.Tensor]

    @staticmethod
    def __new__(cls, data_packed, scale, zero, layout, shape, dtype):
        return torch.Tensor._make_wrapper_subclass(
            cls, shape, dtype=dtype, device=data_packed.device, requires_grad=False
        )

    def __init__(self, data_packed, scale, zero, layout, shape, dtype):
        self.data_packed = data_packed
        self.scale = scale
        self.zero = zero
        self.packing = layout

    def __repr__(self, *, tensor_contents=None):
        kind = "affine" if self.zero is not None else "symmetric"
        return f"PackedTensor({tuple(self.shape)}, {self.packing.name}, {kind}, {self.dtype})"

    def __tensor_flatten__(self):
        return ["data_packed", "scale", "zero"], (self.packing, self.shape, self.dtype)

    @classmethod
    def __tensor_unflatten__(cls, inner, context, outer_size, outer_stride):
        layout, shape, dtype = context
        return cls(inner["data_packed"], inner["scale"], inner["zero"], layout, outer_size, dtype)

    @classmethod
    def quantize(cls, weight, layout=Layout.INT8, group_size=32, symmetric=True):
        rows, columns = weight.shape
        assert columns % group_size == 0 and columns % layout.per_byte == 0
        groups = weight.detach().reshape(rows, -1, group_size)
        limit = 2 ** (layout.value - 1) - 1
        if symmetric:
            scale = groups.abs().amax(-1, keepdim=True).clamp(min=1e-8) / limit
            zero = None
            values = (groups / scale).round()
        else:
            low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
            scale = ((high - low) / (2 * limit)).clamp(min=1e-8)
            zero = (low + high) / 2
            values = ((groups - zero) / scale).round()
        values = values.clamp(-limit - 1, limit).to(torch.int32).reshape(rows, columns)
        return cls(
            pack(values, layout),
            scale.squeeze(-1),
            zero if zero is None else zero.squeeze(-1),
            layout,
            weight.shape,
            weight.dtype,
        )

    def dequantize(self):
        rows, groups = self.scale.shape
        values = unpack(self.data_packed, self.packing).reshape(rows, groups, -1)
        weight = values * self.scale.unsqueeze(-1)
        if self.zero is not None:
            weight = weight + self.zero.unsqueeze(-1)
        return weight.reshape(rows, -1).to(self.dtype)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is nn.functional.linear:
            x, weight = args[:2]
            bias = args[2] if len(args) > 2 else kwargs.get("bias")
            return nn.functional.linear(x, weight.dequantize(), bias)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func in _TABLE:
            return _TABLE[func](func, *args, **(kwargs or {}))
        log.debug("falls back: %s", func)
        args, kwargs = tree_map_only(PackedTensor, lambda it: it.dequantize(), (args, kwargs or {}))
        return func(*args, **kwargs)


def like(source: PackedTensor, fn) -> PackedTensor:
    inner = [fn(source.data_packed), fn(source.scale), source.zero if source.zero is None else fn(source.zero)]
    return PackedTensor(*inner, source.packing, source.shape, source.dtype)


@implements(aten.detach.default, aten.alias.default)
def _(func, tensor):
    return like(tensor, func)


@implements(aten.clone.default)
def _(func, tensor, *, memory_format=None):
    return like(tensor, func)


@implements(aten._to_copy.default)
def _(func, tensor, *, dtype=None, **kwargs):
    return like(tensor, lambda inner: inner.clone())


def convert(model: nn.Module, skip: Callable[[str], bool] = lambda name: False, **options) -> nn.Module:
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and not skip(name):
            packed = PackedTensor.quantize(module.weight, **options)
            module.weight = nn.Parameter(packed, requires_grad=False)
    return model


@functools.lru_cache(maxsize=2)
def reference(width: int = 64) -> nn.Module:
    torch.manual_seed(17)
    return nn.Sequential(
        nn.Linear(width, 2 * width), nn.GELU(), nn.LayerNorm(2 * width), nn.Linear(2 * width, width, bias=False)
    ).eval()


def selftest(model: nn.Module, x: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> None:
    got = model(x)
    leaves, _ = tree_flatten(got)
    case = unittest.TestCase()
    case.assertEqual(len(leaves), 1)
    case.assertLess((got - wanted).abs().max().item(), tolerance)


@torch.no_grad()
def main(compile_: bool = True) -> int:
    import copy

    x = torch.randn(8, 64, generator=torch.Generator().manual_seed(1))
    wanted = reference()(x)
    for symmetric in (False, True):
        for layout, tolerance in ((Layout.INT8, 0.05), (Layout.INT4, 0.5)):
            model = convert(copy.deepcopy(reference()), layout=layout, symmetric=symmetric)
            selftest(model, x, wanted, tolerance)
            print("ok", model[0].weight)
            if compile_ and symmetric:
                compiled = torch.compile(model, dynamic=False)
                selftest(compiled, x, wanted, tolerance)
    return 0


if __name__ == "__main__":
    sys.exit(main("--eager" not in sys.argv))
