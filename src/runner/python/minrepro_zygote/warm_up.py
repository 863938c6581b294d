"""Computes before the fork what PyTorch computes once in each process."""

import os
import sys

# Is imported where PyTorch's compiler is at work.
COMPILER = "torch._inductor.codecache"

# What PyTorch computes once in each process and what depends on nothing but its version and the machine.
WARM_UP = (
    ("torch._inductor.cpu_vec_isa", "pick_vec_isa"),
    ("torch._inductor.codecache", "torch_key"),
    ("triton.runtime.cache", "triton_key"),
    ("triton.compiler.compiler", "triton_key"),
)

# The same, but it asks for GPUs: that starts CUDA, which no fork survives.
WARM_UP_WITHOUT_GPU = (
    ("torch._inductor.codecache", "CacheBase.get_system"),
    ("torch._inductor.fx_passes.joint_graph", "lazy_init"),
    ("torch._inductor.fx_passes.post_grad", "lazy_init"),
)

# Where Linux shows NVIDIA's, AMD's and Intel's.
GPUS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri")

# Sources of PyTorch in which its compiler looks up the names of functions for nearly every model: it reads them whole.
LOOKED_UP = ("torch.nn.functional",) + tuple(
    "torch.nn.modules." + name for name in ("activation", "container", "linear", "module", "normalization", "sparse")
)


def warm_up():
    if COMPILER not in sys.modules:
        return
    has_gpu = any(map(os.path.exists, GPUS))
    for module, name in WARM_UP if has_gpu else WARM_UP + WARM_UP_WITHOUT_GPU:
        function = sys.modules.get(module)
        for part in name.split("."):
            function = getattr(function, part, None)
        if function is not None:
            try:
                function()
            except Exception:
                # A version that wants something else; it will be computed when it is needed.
                pass
    look_up = getattr(sys.modules.get("torch._dynamo.funcname_cache"), "get_funcname", None)
    for name in LOOKED_UP:
        if look_up is not None and name in sys.modules:
            try:
                look_up(sys.modules[name].__file__, 1)
            except Exception:
                return
