"""Errors that the command shows without a traceback."""


class DispatchError(Exception):
    status = 1


class PlanError(DispatchError):
    """A plan that does not exist, or that asks for what there is not."""

    status = 2

    def __init__(self, plan, reason):
        super().__init__(f"{plan}: {reason}")
        self.plan = plan
        self.reason = reason
