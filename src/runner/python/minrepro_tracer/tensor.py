"""Tensors as Python expressions. Knows PyTorch and no script; called by the writer of values."""

import sys

from .expressions import Stop


def kind_of(value):
    """What a tensor is, or that a value is a module; None of anything else. Runs no code of the script."""
    torch = sys.modules.get("torch")
    kind = type(value)
    if torch is None or kind.__module__ == "builtins" or not hasattr(torch, "nn"):
        return None
    if issubclass(kind, torch.nn.Module):
        return "module"
    if not issubclass(kind, torch.Tensor):
        return None
    # Classes of tensors may answer for their attributes by code of their own.
    plainly = getattr(torch._C, "DisableTorchFunctionSubclass", None) or torch._C.DisableTorchFunction
    with plainly():
        return {
            "tensor": {
                "shape": [int(size) for size in value.shape],
                "dtype": str(value.dtype)[len("torch."):],
                "device": str(value.device),
                "requires_grad": value.requires_grad,
            }
        }


# So many numbers are written out one by one: few where they hardly matter (random or real), more where each run
# computes the same whole numbers.
FEW = {True: 8, False: 64}


def is_fixed(torch):
    """Whether the program has drawn nothing from PyTorch's random numbers, so that each run computes the same."""
    try:
        generator = torch.default_generator
        fresh = torch.Generator()
        fresh.manual_seed(generator.initial_seed())
        return fresh.get_state().tolist() == generator.get_state().tolist()
    except Exception:
        return False


def grouped(shape):
    """Sizes as one argument."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


class Tensor:
    """A tensor as a call that makes one of the same shape, type, strides and device, with values of the same kind."""

    def __init__(self, torch, name, value):
        self.torch = torch
        self.name = name
        self.value = value
        self.is_call = True  # whether it is written as one call that makes it

    def text(self, keeps_leaves):
        """The call; of what was computed with gradients a copy of such a tensor, which is no leaf, if that is to be kept."""
        text = self.made()
        is_computed = keeps_leaves and self.value.grad_fn is not None and self.is_call
        return text + ".clone()" if is_computed else text

    def made(self):
        torch, value = self.torch, self.value
        if value.layout is not torch.strided or value.is_quantized:
            raise Stop
        options = "" if value.device.type == "cpu" else ', device="' + str(value.device) + '"'
        if value.requires_grad:
            options += ", requires_grad=True"
        value = value.detach()
        if value._is_zerotensor():
            return self.call("_efficientzerotensor", value.shape, self.typed() + options)
        if value.device.type == "meta":
            return self.call("empty", value.shape, self.typed() + options)
        if value.dim() == 0:
            number = value.item()
            if number != number or number in (float("inf"), float("-inf")):
                number = 'float("%s")' % number
            kind = torch.tensor(value.item()).dtype
            typed = "" if kind is value.dtype else self.typed()
            return self.name + ".tensor(" + str(number) + typed + options + ")"
        # The dimensions in the order of the memory; those that repeat one element have none there.
        strides = value.stride()
        order = sorted(range(value.dim()), key=lambda at: -strides[at])
        shape = [value.shape[at] if strides[at] or value.shape[at] == 0 else 1 for at in order]
        stored = value.permute(order)
        for at, size in enumerate(shape):
            stored = stored.narrow(at, 0, size)
        text = self.filled(shape, stored, options)
        if order != list(range(value.dim())):
            text += self.moved(order)
            self.is_call = False
        if any(not stride and size > 1 for stride, size in zip(strides, value.shape)):
            self.is_call = False
            text += ".expand(" + ", ".join(map(str, value.shape)) + ")"
        return text

    def typed(self):
        return ", dtype=" + self.name + str(self.value.dtype)[len("torch"):]

    def call(self, function, shape, options):
        sizes = ", ".join(map(str, shape))
        return self.name + "." + function + "(" + (sizes or "()") + options + ")"

    def filled(self, shape, value, options):
        """A call that makes a contiguous tensor."""
        torch, dtype = self.torch, value.dtype
        is_default = dtype is torch.get_default_dtype()
        typed = "" if is_default else self.typed()
        if value.numel() == 0:
            return self.call("empty", shape, typed + options)
        fixed = is_fixed(torch)
        count = value.numel()
        if dtype.is_complex:
            return self.call("ones" if fixed else "randn", shape, typed + options)
        plain = value if dtype.is_floating_point and value.element_size() > 1 else value.to(torch.int64)
        least, most = plain.min().item(), plain.max().item()
        if least == most and least in (0, 1):
            return self.call("ones" if least else "zeros", shape, typed + options)
        if dtype.is_floating_point and value.element_size() == 1:
            maker = "ones" if fixed else "randn"
            return self.call(maker, shape, options) + ".to(" + self.name + str(dtype)[len("torch"):] + ")"
        if dtype.is_floating_point:
            # Where nothing is negative, that may matter.
            if not fixed:
                return self.call("rand" if least >= 0 else "randn", shape, typed + options)
            if count <= FEW[True] and bool((plain - plain == 0).all()):
                return self.listed(value, typed + options)
            return self.name + ".full(" + grouped(shape) + (", 1.0" if least >= 0 else ", -1.0") + typed + options + ")"
        if dtype is torch.bool:
            if not fixed:
                return "(" + self.call("rand", shape, options) + " > 0.5)"
            if count <= FEW[False]:
                return self.listed(value, options)
            return "(" + self.counted(shape, count, options) + " % 2 == 0)"
        typed = "" if dtype is torch.int64 else typed
        if plain.dim() == 1 and plain.tolist() == list(range(len(plain))):
            return self.call("arange", shape, typed + options)
        if count <= FEW[not fixed]:
            return self.listed(value, typed + options)
        if fixed:
            text = "(%s %% %d + %d)" % (self.counted(shape, count, options), most - least + 1, least)
            self.is_call = False
            return text + ".to(" + self.name + str(dtype)[len("torch"):] + ")" if typed else text
        return self.name + ".randint(%d, %d, %s%s%s)" % (least, most + 1, grouped(shape), typed, options)

    def listed(self, value, options):
        """Its numbers one by one."""
        return self.name + ".tensor(" + repr(value.tolist()) + options + ")"

    def counted(self, shape, count, options):
        """Whole numbers from 0 on."""
        text = self.name + ".arange(%d%s)" % (count, options)
        return text if len(shape) == 1 else text + ".reshape(" + ", ".join(map(str, shape)) + ")"

    def moved(self, order):
        """What puts dimensions from the order of the memory into their own."""
        back = [order.index(at) for at in range(len(order))]
        wrong = [at for at in range(len(order)) if back[at] != at]
        if len(wrong) == 2:
            return ".transpose(%d, %d)" % tuple(wrong)
        return ".permute(" + ", ".join(map(str, back)) + ")"
