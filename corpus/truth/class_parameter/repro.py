"""Describes the methods of generic containers by their annotations."""
from __future__ import annotations

import inspect
import typing


class Shelf[Item]:
    def __init__(self, items: list[Item]) -> None:
        self.items = list(items)

    def first(self) -> Item:
        return self.items[0]

    def put(self, item: Item, times: int = 1) -> None:
        self.items.extend([item] * times)


def describe(cls: type) -> dict[str, list[str]]:
    found = {}
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if name.startswith("_"):
            continue
        hints = typing.get_type_hints(method)
        found[name] = [f"{key}: {hint}" for key, hint in hints.items()]
    return found


shelf = Shelf([1, 2])
shelf.put(3)
print(shelf.first())
print(describe(Shelf))
