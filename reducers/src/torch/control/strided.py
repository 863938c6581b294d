def _plain(_):
    """Has nested tensors made as a list of strided ones, not as one jagged buffer."""
    import functools

    import torch
    import torch.nested

    def strided(make):
        @functools.wraps(make)
        def made(*args, **kwargs):
            kwargs.pop("layout", None)
            return make(*args, **kwargs)

        return made

    for name in ("nested_tensor", "as_nested_tensor"):
        setattr(torch.nested, name, strided(getattr(torch.nested, name)))
