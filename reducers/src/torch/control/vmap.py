def _plain(_):
    """Has `vmap` call its function once for each element and stack the results."""
    import functools

    import torch
    import torch.func
    from torch._functorch.vmap import _broadcast_to_and_flatten as spread
    from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

    def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
        @functools.wraps(func)
        def each(*args, **kwargs):
            flat, spec = tree_flatten(args)
            dims = spread(in_dims, spec)
            sizes = [arg.shape[dim] for arg, dim in zip(flat, dims) if dim is not None]
            results = []
            for at in range(sizes[0]):
                parts = [
                    arg if dim is None else arg.select(dim, at) for arg, dim in zip(flat, dims)
                ]
                named = tree_map(lambda arg: arg.select(0, at), kwargs)
                results.append(tree_flatten(func(*tree_unflatten(parts, spec), **named)))
            outs = results[0][1]
            stacked = [
                torch.stack([torch.as_tensor(part) for part in parts], dim or 0)
                for parts, dim in zip(zip(*(leaves for leaves, _ in results)), spread(out_dims, outs))
            ]
            return tree_unflatten(stacked, outs)

        return each

    torch.vmap = torch.func.vmap = vmap
