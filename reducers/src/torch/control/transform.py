def _plain(names):
    """Has gradients of functions taken by plain autograd."""
    import functools
    import sys

    import torch
    import torch.func
    import torch.autograd.functional as plain
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

    def jvp(func, primals, tangents, *, has_aux=False, **_):
        if has_aux:
            raise NotImplementedError("there is no plain form with other outputs")
        is_nested = any(torch.is_tensor(each) and each.requires_grad for each in primals)
        return plain.jvp(func, tuple(primals), tuple(tangents), create_graph=is_nested)

    def in_reverse(compute):
        def whole(func, inputs, create_graph=False, strict=False, **_):
            return compute(func, inputs, create_graph=create_graph, strict=strict)

        return whole

    kinds = {
        "torch.func.jvp": jvp,
        "torch.func.grad": of_argument(lambda func, argument: gradient(func, argument)[1]),
        "torch.func.grad_and_value": of_argument(
            lambda func, argument: gradient(func, argument)[::-1]
        ),
        "torch.func.jacrev": of_argument(jacobian),
        "torch.func.jacfwd": of_argument(jacobian),
        "torch.func.hessian": of_argument(hessian),
        "torch.autograd.functional.jacobian": in_reverse(jacobian),
        "torch.autograd.functional.hessian": in_reverse(hessian),
    }
    for name in names:
        module, leaf = name.rsplit(".", 1)
        setattr(sys.modules[module], leaf, kinds[name])
