import datetime
from functools import singledispatch


class RenderError(TypeError):
    pass


class Table:
    @singledispatch
    def show(self, value):
        raise RenderError("no way to show this value")

    @show.register(datetime.date)
    def _(self, value):
        return "date"


Table().show(datetime.date(2023, 5, 1))
