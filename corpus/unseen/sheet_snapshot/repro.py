"""Undo for a toy spreadsheet: snapshots by copy, autosave by pickle.

Snapshots within a session are fine. Autosave for the old viewer (profile
"legacy") is what fails, and not in the profile "modern", although it is the
very same workbook. Python 3.11.
"""
import copy
import io
import pickle
import sys
import zlib
from collections import deque
from dataclasses import dataclass
from datetime import date


class Color:
    __slots__ = ("red", "green", "blue")
    known = {"black": (0, 0, 0), "red": (255, 0, 0), "sky": (80, 160, 255)}

    def __init__(self, red, green, blue):
        self.red, self.green, self.blue = red, green, blue

    @classmethod
    def named(cls, name):
        return cls(*cls.known[name])

    def __reduce__(self):
        return Color, (self.red, self.green, self.blue)

    def __str__(self):
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


class Border:
    __slots__ = ("width", "color")

    def __init__(self, width=1, color=None):
        self.width = width
        self.color = color or Color.named("black")


class Style:
    """Falls back to the parent for what it does not have."""

    def __init__(self, parent=None, **values):
        self.parent = parent
        self.values = values

    def __getattr__(self, name):
        if name.startswith("__") or name in ("values", "parent"):
            raise AttributeError(name)
        if name in self.values:
            return self.values[name]
        if self.parent is not None:
            return getattr(self.parent, name)
        return None


class Cell:
    def __init__(self, value, style=None):
        self.value = value
        self.style = style
        self._shown = None

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["_shown"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state, _shown=None)

    @property
    def shown(self):
        if self._shown is None:
            self._shown = f"{self.value:>8}"
        return self._shown


class Sheet:
    def __init__(self, title):
        self.title = title
        self.cells = {}

    def __setitem__(self, key, value):
        self.cells[key] = value if isinstance(value, Cell) else Cell(value)

    def __getitem__(self, key):
        return self.cells[key]

    def rows(self):
        for row in sorted({row for row, _ in self.cells}):
            yield [self.cells[key] for key in sorted(self.cells) if key[0] == row]


@dataclass
class Profile:
    name: str
    protocol: int
    compress: bool = False


PROFILES = {
    "modern": Profile("modern", pickle.HIGHEST_PROTOCOL, compress=True),
    "legacy": Profile("legacy", 1),
}


class History:
    def __init__(self, limit=5):
        self.done = deque(maxlen=limit)

    def remember(self, sheet):
        self.done.append(copy.deepcopy(sheet))

    def undo(self):
        return self.done.pop()


class Autosave:
    def __init__(self, profile):
        self.profile = profile
        self.sizes = []

    def dump(self, sheet):
        stream = io.BytesIO()
        pickle.Pickler(stream, protocol=self.profile.protocol).dump(sheet)
        data = stream.getvalue()
        if self.profile.compress:
            data = zlib.compress(data)
        self.sizes.append(len(data))
        return data

    def load(self, data):
        if self.profile.compress:
            data = zlib.decompress(data)
        return pickle.loads(data)


def build():
    plain = Style(color=Color.named("black"), bold=False)
    head = Style(plain, bold=True, border=Border(2, Color.named("sky")))
    sheet = Sheet(f"Harvest {date(2023, 9, 30):%B %Y}")
    for column, title in enumerate(["apples", "pears", "plums"]):
        sheet[0, column] = Cell(title, head)
        for row in range(1, 4):
            sheet[row, column] = Cell(row * 10 + column * 3, plain)
    sheet[4, 0] = "sum"
    return sheet


def show(sheet):
    print(sheet.title)
    for row in sheet.rows():
        print("".join(cell.shown for cell in row))


def main():
    history = History()
    sheet = build()
    history.remember(sheet)
    sheet[1, 1] = 99
    show(sheet)
    sheet = history.undo()
    print("after undo:", sheet[1, 1].value, sheet[0, 0].style.color)
    for name in sys.argv[1:] or PROFILES:
        saver = Autosave(PROFILES[name])
        again = saver.load(saver.dump(sheet))
        print(f"{name}: {len(again.cells)} cells, {saver.sizes[0] > 100}")


if __name__ == "__main__":
    main()
