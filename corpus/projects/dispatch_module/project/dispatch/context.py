"""Settings of the plan that is being run. Each has a value in the current context alone."""
from contextvars import ContextVar

current = ContextVar("current")
tour_limit = ContextVar("tour_limit", default=4)
span = ContextVar("span")


class Bound:
    """A context variable that has a value from `open` to `close`."""

    def __init__(self, variable, value):
        self.variable = variable
        self.value = value
        self.token = None

    def __repr__(self):
        return f"<{self.variable.name} is {self.value!r}>"

    def open(self):
        self.token = self.variable.set(self.value)
        return self

    def close(self):
        token, self.token = self.token, None
        if token is not None:
            self.variable.reset(token)
