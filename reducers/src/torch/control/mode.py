def _plain(names):
    """Has functions that capture others as graphs do so in another of their modes."""
    import functools
    import importlib
    import inspect

    def strictly(capture):
        default = inspect.signature(capture).parameters["strict"].default

        @functools.wraps(capture)
        def call(*args, strict=default, **kwargs):
            return capture(*args, strict=not strict, **kwargs)

        return call

    def symbolically(capture):
        signature = inspect.signature(capture)

        @functools.wraps(capture)
        def call(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            is_real = given.get("tracing_mode", "real") == "real"
            given["tracing_mode"] = "symbolic" if is_real else "real"
            # In real mode a function may use tensors that are not given to it.
            if is_real and "_allow_non_fake_inputs" in signature.parameters:
                given["_allow_non_fake_inputs"] = True
            return capture(**given)

        return call

    for name in names:
        path, _, function = name.rpartition(".")
        module = importlib.import_module(path)
        other = symbolically if function == "make_fx" else strictly
        setattr(module, function, other(getattr(module, function)))
