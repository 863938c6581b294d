def _plain(names):
    """Has the functions that quantize a model return it as it is."""
    import importlib

    def as_it_is(model, *_, **__):
        return model

    for name in names:
        path, leaf = name.rsplit(".", 1)
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        if hasattr(module, leaf):
            setattr(module, leaf, as_it_is)
