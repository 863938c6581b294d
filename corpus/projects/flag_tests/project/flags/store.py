"""All flags, from all sources."""
from configparser import ConfigParser
from datetime import date

from . import rules
from .audit import Audit


def _share(text):
    """A share as a number, or as a percentage."""
    if text.endswith("%"):
        return float(text[:-1]) / 100
    return float(text)


def _names(text):
    return frozenset(part.strip() for part in text.split(",") if part.strip())


class Store:
    """The flags, once `load` has been called."""

    def __init__(self, sources, audit=None):
        self.sources = list(sources)
        self.audit = audit
        self.flags = {}

    def __contains__(self, name):
        return name in self.flags

    def __len__(self):
        return len(self.flags)

    def load(self):
        parser = ConfigParser(default_section="all", empty_lines_in_values=False)
        for source in self.sources:
            source.add_to(parser)
        self.flags = {name: self._flag(parser[name]) for name in parser.sections()}
        return self

    @staticmethod
    def _flag(section):
        until = section.get("until")
        return rules.Flag(
            name=section.name,
            enabled=section.getboolean("enabled", fallback=True),
            share=_share(section.get("share", "1")),
            groups=_names(section.get("groups", "")),
            until=date.fromisoformat(until) if until else None,
        )

    def is_on(self, name, user, today=None):
        flag = self.flags[name]
        answer = rules.is_on(flag, user, today)
        if isinstance(self.audit, Audit):
            self.audit.note(flag, user, answer)
        return answer
