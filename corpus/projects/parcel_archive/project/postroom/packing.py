"""Archives of parcels."""
import zipfile
from typing import IO, Optional

from .compat import HAS_ZLIB
from .config import Depot
from .records import Parcel

METHOD = zipfile.ZIP_DEFLATED if HAS_ZLIB else zipfile.ZIP_STORED
#: Files that anyone may read.
MODE = 0o644
INDEX = "INDEX"


class Packer:
    """An archive that is being written, with an index at its end."""

    def __init__(self, target: IO[bytes], depot: Depot, level: Optional[int] = None):
        self.depot = depot
        self.level = depot.level_or(level)
        self.archive = zipfile.ZipFile(target, "w", METHOD)
        self.index = []
        self.plain = 0

    def __enter__(self) -> "Packer":
        self.archive.comment = self.depot.title.encode("ascii", "replace")
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if kind is None:
            self._write_index()
        self.archive.close()

    @property
    def count(self) -> int:
        return len(self.index)

    def _name(self, parcel: Parcel) -> str:
        return f"{self.depot.name}/{parcel.first.number // 1000:03}/{parcel.name}.txt"

    def add(self, parcel: Parcel) -> None:
        text = parcel.text().encode("utf-8")
        entry = zipfile.ZipInfo(self._name(parcel), parcel.last.time.timetuple()[:6])
        entry.compress_type = METHOD
        entry.external_attr = MODE << 16
        self._write(entry, text)
        self.index.append((entry.filename, len(text)))

    def _write(self, entry: zipfile.ZipInfo, text: bytes) -> None:
        self.archive.writestr(entry, text, compresslevel=self.level)
        self.plain += len(text)

    def _write_index(self) -> None:
        lines = [f"{size:>8}  {name}" for name, size in sorted(self.index)]
        text = "\n".join(lines).encode("utf-8")
        self.archive.writestr(f"{self.depot.name}/{INDEX}", text)
        self.plain += len(text)
