def _plain(names):
    """Has gradients of functions taken by plain autograd."""
    import functools

    import torch
    import torch.func
    from torch.autograd.functional import hessian, jacobian
    from torch.utils._pytree import tree_flatten, tree_unflatten

    def of_argument(compute):
        def transform(func, argnums=0, has_aux=False, **_):
            if has_aux:
                raise NotImplementedError("there is no plain form with other outputs")

            @functools.wraps(func)
            def call(*args, **kwargs):
                def at(numbers, values):
                    changed = list(args)
                    for number, value in zip(numbers, values):
                        changed[number] = value
                    return func(*changed, **kwargs)

                if isinstance(argnums, tuple):
                    inputs = tuple(args[number] for number in argnums)
                    return compute(lambda *values: at(argnums, values), inputs)
                return compute(lambda value: at((argnums,), (value,)), args[argnums])

            return call

        return transform

    def gradient(func, argument):
        leaves, spec = tree_flatten(argument)
        leaves = [leaf.detach().requires_grad_() for leaf in leaves]
        whole = tree_unflatten(leaves, spec)
        with torch.enable_grad():
            value = func(*whole) if isinstance(argument, tuple) else func(whole)
        found = torch.autograd.grad(value, leaves, allow_unused=True)
        found = [
            torch.zeros_like(leaf) if each is None else each for leaf, each in zip(leaves, found)
        ]
        return value.detach(), tree_unflatten(found, spec)

    kinds = {
        "grad": lambda func, argument: gradient(func, argument)[1],
        "grad_and_value": lambda func, argument: gradient(func, argument)[::-1],
        "jacrev": jacobian,
        "jacfwd": jacobian,
        "hessian": hessian,
    }
    for name in names:
        leaf = name.rsplit(".", 1)[1]
        setattr(torch.func, leaf, of_argument(kinds[leaf]))
