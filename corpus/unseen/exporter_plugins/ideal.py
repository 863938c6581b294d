from typing import Protocol, runtime_checkable

@runtime_checkable
class Exporter(Protocol):
    suffix: str

issubclass(int, Exporter)
