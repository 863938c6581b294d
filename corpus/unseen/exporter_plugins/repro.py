"""Export plug-ins: discovery, capabilities, a pipeline of filters.

Duck-typed plug-ins are to be found by `issubclass(candidate, Exporter)`, as
I understood runtime_checkable. It worked until the protocol got `suffix`.
"""
from __future__ import annotations

import abc
import html
import inspect
import json
import sys
import types
from enum import Enum, Flag, IntEnum, auto, unique
from typing import Any, ClassVar, Generic, Iterable, Iterator, Protocol, TypeVar, runtime_checkable

T = TypeVar("T")
Record = dict[str, Any]


@unique
class Quality(IntEnum):
    DRAFT = 1
    NORMAL = 2
    FINE = 3


class Ability(Flag):
    NONE = 0
    STREAM = auto()
    NESTED = auto()
    COLOR = auto()


class Align(str, Enum):
    LEFT = "<"
    RIGHT = ">"
    CENTER = "^"

    def pad(self, text, width):
        return format(text, f"{self.value}{width}")


@runtime_checkable
class Exporter(Protocol):
    suffix: str

    def export(self, records: Iterable[Record]) -> str:
        ...


class Filter(abc.ABC, Generic[T]):
    quality: ClassVar[Quality] = Quality.NORMAL

    @abc.abstractmethod
    def apply(self, item: T) -> T:
        """Give the item or another one, or None to drop it."""

    def __call__(self, items: Iterable[T]) -> Iterator[T]:
        for item in items:
            result = self.apply(item)
            if result is not None:
                yield result


class DropEmpty(Filter[Record]):
    def apply(self, item):
        return {key: value for key, value in item.items() if value not in (None, "")}


class Rename(Filter[Record]):
    quality = Quality.FINE

    def __init__(self, **names):
        self.names = names

    def apply(self, item):
        return {self.names.get(key, key): value for key, value in item.items()}


class TextExporter:
    suffix = ".txt"
    abilities = Ability.STREAM

    def __init__(self, width=10, align=Align.LEFT):
        self.width = width
        self.align = align

    def export(self, records):
        lines = []
        for record in records:
            lines.append("|".join(self.align.pad(str(value), self.width) for value in record.values()))
        return "\n".join(lines)


class HtmlExporter:
    suffix = ".html"
    abilities = Ability.NESTED | Ability.COLOR

    def export(self, records):
        rows = []
        for record in records:
            cells = "".join(f"<td>{html.escape(str(value))}</td>" for value in record.values())
            rows.append(f"<tr>{cells}</tr>")
        return f"<table>{''.join(rows)}</table>"


class JsonExporter:
    suffix = ".json"
    abilities = Ability.NESTED | Ability.STREAM

    def export(self, records):
        return json.dumps(list(records), default=str)


class Registry:
    def __init__(self, protocol):
        self.protocol = protocol
        self.found = {}

    def candidates(self, module: types.ModuleType):
        for name, value in inspect.getmembers(module, inspect.isclass):
            if value.__module__ == module.__name__ and value is not self.protocol:
                yield name, value

    def accept(self, value: type) -> bool:
        return not inspect.isabstract(value) and issubclass(value, self.protocol)

    def scan(self, module: types.ModuleType) -> Registry:
        for name, value in self.candidates(module):
            if self.accept(value):
                self.found[name] = value
        return self

    def with_ability(self, ability: Ability):
        return [value for value in self.found.values() if ability & value.abilities]


class Pipeline:
    def __init__(self, *filters: Filter):
        self.filters = sorted(filters, key=lambda item: item.quality)

    def run(self, records: Iterable[Record]) -> list[Record]:
        for step in self.filters:
            records = step(records)
        return list(records)


RECORDS: list[Record] = [
    {"name": "Ridge <east>", "height": 1812, "note": ""},
    {"name": "Saddle", "height": 1540, "note": "hut, closed"},
    {"name": "Lake", "height": None, "note": "cold"},
]


def main() -> int:
    records = Pipeline(Rename(height="metres"), DropEmpty()).run(RECORDS)
    print(len(records), "records,", sum(len(record) for record in records), "values")
    registry = Registry(Exporter).scan(sys.modules[__name__])
    for cls in registry.with_ability(Ability.NESTED | Ability.STREAM):
        print(f"-- {cls.__name__} ({cls.suffix})")
        print(cls().export(records))
    return 0


if __name__ == "__main__":
    sys.exit(main())
