def _plain(_):
    """Has automatic mixed precision do nothing."""
    from torch.amp.autocast_mode import autocast

    start = autocast.__init__

    def switched_off(self, *args, **kwargs):
        start(self, *args, **kwargs)
        self._enabled = False

    autocast.__init__ = switched_off
