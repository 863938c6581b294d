def _plain(_):
    """Has attention and its layers take the same way for inference as for training."""
    import torch

    torch.backends.mha.set_fastpath_enabled(False)
    # The program may switch it on by itself.
    torch.backends.mha.set_fastpath_enabled = lambda value: None
