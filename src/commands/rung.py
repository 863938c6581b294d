# Stands before a case's ideal to run it on another rung of the ladder of backends.
import functools, torch

def lowered(rung, compile, model=None, *, mode=None, options=None, **others):
    if model is None:
        return functools.partial(torch.compile, mode=mode, options=options, **others)
    if rung == "none":
        return model
    return compile(model, **{**others, "backend": rung})

