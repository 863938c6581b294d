def _plain(names):
    """Has functions that capture others as graphs call them as they are instead."""
    import collections
    import copy
    import importlib
    import os
    import sys

    def leave():
        # Nothing plain stands for what the program asks for next. Up to here its code is valid,
        # and that was the question.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    class Plain:
        """Takes the place of a captured graph."""

        def __init__(self, function):
            self._function = function

        def __call__(self, *args, **kwargs):
            return self._function(*args, **kwargs)

        def module(self, *_, **__):
            return self._function

        def __getattr__(self, _):
            leave()

    class Traced(Plain):
        """Takes the place of a traced module, whose members it has."""

        def __getattr__(self, name):
            return getattr(self._function, name) if hasattr(self._function, name) else leave()

    class Anything:
        """Takes the place of what describes a graph: it has all members, and no elements."""

        def __getattr__(self, _):
            return self

        def __call__(self, *_, **__):
            return self

        def __iter__(self):
            return iter(())

        def __str__(self):
            return ""

    def described(function):
        """A function or module that can be asked for its graph as one that was captured."""
        for name in ("code", "graph", "inlined_graph"):
            if not hasattr(function, name):
                try:
                    object.__setattr__(function, name, Anything())
                except (AttributeError, TypeError):
                    pass
        return function

    Result = collections.namedtuple("ExportResult", "graph_module guards")

    def tuple_of(args):
        return tuple(args) if isinstance(args, (tuple, list)) else (args,)

    def export(mod, args=(), kwargs=None, *_, **__):
        # PyTorch takes nothing else, so neither is valid code.
        if not isinstance(args, tuple) or not isinstance(kwargs, (dict, type(None))):
            raise TypeError("args is no tuple, or kwargs no dictionary")
        mod(*args, **(kwargs or {}))
        return Plain(mod)

    # What stands for a compiled function, by the path of its file.
    files = {}

    def saved(function, path):
        files[path] = function
        return path

    def aot_compile(f, args=(), kwargs=None, *_, **__):
        export(f, args, kwargs)
        return saved(f, f"model{len(files)}.so")

    def aoti_compile_and_package(exported_program, *_, package_path=None, **__):
        return saved(exported_program, str(package_path or f"model{len(files)}.pt2"))

    def load(path, *_, **__):
        return files[str(path)] if str(path) in files else leave()

    def capture_pre_autograd_graph(*args, **kwargs):
        return export(*args, **kwargs).module()

    def capture(f, *_, **__):
        def call(*args, **kwargs):
            f(*args, **kwargs)
            return Plain(f)

        return call

    def dynamo_export(f, *args, **kwargs):
        def call(*args, **kwargs):
            f(*args, **kwargs)
            return Result(Plain(f), None)

        return call(*args, **kwargs) if args else call

    def onnx_export(model, args=(), *_, **kwargs):
        args = tuple_of(args)
        named = kwargs.get("kwargs") or {}
        if len(args) > 1 and isinstance(args[-1], dict):
            args, named = args[:-1], args[-1]
        model(*args, **named)
        leave()

    def trace(func, example_inputs=None, *_, **kwargs):
        args = kwargs.get("example_kwarg_inputs") or example_inputs
        if args is None:
            return described(func)
        result = func(**args) if isinstance(args, dict) else func(*tuple_of(args))
        if not isinstance(result, (importlib.import_module("torch").Tensor, list, tuple, dict)):
            raise RuntimeError("the traced function returns no tensor")
        return described(func)

    def trace_module(mod, inputs, *_, **__):
        for method, args in inputs.items():
            getattr(mod, method)(*tuple_of(args))
        return described(mod)

    def itself(obj=None, *_, **__):
        return described(obj) if obj is not None else itself

    def symbolic_trace(root, *_, **__):
        # What is set on the one is not set on the other.
        return Traced(copy.deepcopy(root))

    kinds = {
        "torch.onnx.export": onnx_export,
        "torch._dynamo.export": dynamo_export,
        "torch._export.capture_pre_autograd_graph": capture_pre_autograd_graph,
        "torch._export.aot_compile": aot_compile,
        "torch._export.aot_load": load,
        "torch._inductor.aot_compile": aot_compile,
        "torch._inductor.aoti_compile_and_package": aoti_compile_and_package,
        "torch._inductor.aoti_load_package": load,
        "torch.fx.experimental.proxy_tensor.make_fx": capture,
        "functorch.make_fx": capture,
        "torch.fx.symbolic_trace": symbolic_trace,
        "torch.jit.trace": trace,
        "torch.jit.trace_module": trace_module,
    }
    for name in names:
        path, leaf = name.rsplit(".", 1)
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        if leaf == "ScriptModule":
            # A class whose methods it compiles.
            setattr(module, leaf, importlib.import_module("torch.nn").Module)
        elif hasattr(module, leaf):
            usual = itself if path == "torch.jit" or leaf.startswith("aot_") else export
            setattr(module, leaf, kinds.get(name, usual))
