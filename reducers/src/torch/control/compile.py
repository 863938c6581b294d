def _plain(names):
    """Has PyTorch's compiler, whoever asks for it, compile nothing."""
    import functools
    import importlib
    import os

    os.environ["TORCHDYNAMO_DISABLE"] = "1"

    def run_repro(mod, load_args, *_, only_fwd, **__):
        # What the minifier wrote. Numbers that were not stored with it are drawn.
        utils = importlib.import_module("torch._dynamo.debug_utils")
        reader = utils.InputReader()
        load_args(reader)
        return utils.run_fwd_maybe_bwd(mod, reader.args, only_fwd)

    for name in names:
        if name.startswith("torch._dynamo.repro."):
            # Behind AOT autograd, a graph has its backward pass in itself.
            run = functools.partial(run_repro, only_fwd=name.endswith(".after_aot"))
            importlib.import_module(name).run_repro = run
