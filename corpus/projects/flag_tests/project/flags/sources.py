"""Where the settings of flags come from."""
import os
from abc import ABC, abstractmethod
from collections import defaultdict
from configparser import ConfigParser
from pathlib import Path

PREFIX = "FLAG_"
DEFAULTS = Path(__file__).with_name("defaults.ini")


class Source(ABC):
    """Something that adds sections and options to those of other sources."""

    strict = False

    @abstractmethod
    def add_to(self, parser: ConfigParser) -> None:
        """Adds the settings that this source has."""


class Defaults(Source):
    """The settings that come with this package."""

    def __init__(self, path=DEFAULTS):
        self.path = Path(path)

    def add_to(self, parser):
        with self.path.open(encoding="utf-8") as file:
            parser.read_file(file, source=str(self.path))


class Environment(Source):
    """Variables such as `FLAG_SEARCH_SHARE`, which is the option `share` of the flag `search`."""

    def __init__(self, strict=False, prefix=PREFIX):
        self.strict = strict
        self.prefix = prefix

    def variables(self):
        for name in sorted(os.environ):
            if name.startswith(self.prefix):
                yield name[len(self.prefix):].lower(), os.environ[name]

    def add_to(self, parser):
        found = defaultdict(dict)
        for name, value in self.variables():
            flag, _, option = name.rpartition("_")
            if not parser.has_section(flag):
                if self.strict:
                    raise LookupError(f"no flag is called {flag!r}")
                continue
            found[flag][option] = value.strip()
        parser.read_dict(found, source="<environment>")
