def _plain(names):
    """Has sparse tensors checked when they are made."""
    import functools

    import torch

    def checked(make):
        @functools.wraps(make)
        def made(*args, **kwargs):
            return make(*args, **dict(kwargs, check_invariants=True))

        return made

    for name in names:
        leaf = name.rsplit(".", 1)[1]
        setattr(torch, leaf, checked(getattr(torch, leaf)))
