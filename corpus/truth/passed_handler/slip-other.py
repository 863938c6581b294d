import datetime
import decimal
from functools import singledispatch


class RenderError(TypeError):
    pass


class Table:
    @singledispatch
    def show(self, value):
        raise RenderError("no way to show this value")

    @show.register(decimal.Decimal)
    def _(self, value):
        return "number"


Table().show(datetime.date(2023, 5, 1))
