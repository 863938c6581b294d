"""Describes the methods of generic containers by their annotations."""
from __future__ import annotations

import inspect
import typing


class Shelf[Item]:
    def first(self) -> Item:
        pass


def describe():
    for name, method in inspect.getmembers(Shelf, inspect.isfunction):
        typing.get_type_hints(method)


describe()
