def _plain(_):
    """Has checkpointing recompute in the other of its two ways."""
    import functools

    import torch.utils.checkpoint as module

    def other(checkpoint):
        @functools.wraps(checkpoint)
        def call(*args, use_reentrant=None, **kwargs):
            # Where the program leaves it open, PyTorch has taken the first of the two so far.
            use_reentrant = use_reentrant is False
            return checkpoint(*args, use_reentrant=use_reentrant, **kwargs)

        return call

    module.checkpoint = other(module.checkpoint)
    module.checkpoint_sequential = other(module.checkpoint_sequential)
