import datetime
from functools import singledispatch


class RenderError(TypeError):
    pass


class Table:
    @singledispatch
    def show(self, value):
        raise RenderError("no way to show this value")


Table().show(datetime.date(2023, 5, 1))
