"""Shows the rows of a ledger; each kind of value has a function of its own."""
import datetime
import decimal
from functools import singledispatch


class RenderError(TypeError):
    pass


class Table:
    def __init__(self, columns, places=2):
        self.columns = columns
        self.places = places

    @singledispatch
    def show(self, value):
        raise RenderError("no way to show this value")

    @show.register(decimal.Decimal)
    def _(self, value):
        return f"{value:.{self.places}f}"

    @show.register(datetime.date)
    def _(self, value):
        return value.strftime("%d.%m.%Y")

    def add(self, row):
        for cell in row:
            print(self.show(cell), end=" ")


table = Table(["from", "to"])
table.add([datetime.date(2023, 5, 1)])
