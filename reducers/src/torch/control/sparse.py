def _plain(_):
    """Has sparse tensors made as dense ones."""
    import torch

    def is_sparse(tensor):
        return tensor.layout not in (torch.strided, getattr(torch, "jagged", None))

    def dense(make):
        def call(*args, **kwargs):
            made = make(*args, **kwargs)
            needs_gradient = kwargs.get("requires_grad", False)
            return made.detach().to_dense().requires_grad_() if needs_gradient else made.to_dense()

        return call

    def itself(self, *_, **__):
        return self.to_dense() if is_sparse(self) else self

    def unless_dense(method):
        def call(self, *args, **kwargs):
            return method(self, *args, **kwargs) if is_sparse(self) else self

        return call

    for layout in ("coo", "csr", "csc", "bsr", "bsc", "compressed"):
        name = f"sparse_{layout}_tensor"
        if hasattr(torch, name):
            setattr(torch, name, dense(getattr(torch, name)))
        setattr(torch.Tensor, f"to_sparse_{layout}", itself)
    torch.Tensor.to_sparse = itself
    torch.Tensor.coalesce = unless_dense(torch.Tensor.coalesce)
    for name in ("mm", "addmm", "sum"):
        setattr(torch.sparse, name, getattr(torch, name))
