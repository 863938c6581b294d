"""settings.py - layered settings for our lab instruments

Reads an INI text, checks it against a schema and reports every problem. With a broken entry I
expected the list of problems; what I get is a TypeError while the error is being reported, and
the real reason is somewhere up the chain of tracebacks.
"""

import configparser
import decimal
import enum
import fractions
import io
import locale
import math
import pprint
import string
import traceback
from functools import lru_cache, partial, singledispatch
from pathlib import Path
from types import MappingProxyType

DEFAULT_INI = """
[camera]
exposure = 1/250
gain = 4
mode = burst
label = north wall

[stage]
speed = 2.5
limits = -10, 10
home = yes

[laser]
power = twelve
wavelength = 532
interlock = on
"""


class Severity(enum.IntEnum):
    HINT = 10
    WARNING = 20
    ERROR = 30


class SettingsError(Exception):
    """Anything wrong with the settings."""

    severity = Severity.ERROR

    def __init__(self, section, option, reason):
        super().__init__(section, option, reason)
        self.section = section
        self.option = option
        self.reason = reason

    def where(self):
        return "[%s] %s" % (self.section, self.option)

    def __str__(self):
        return "{}: {}".format(self.where(), self.reason),


class MissingOption(SettingsError):
    severity = Severity.WARNING

    def __str__(self):
        return "%s is missing" % self.where()


class OutOfRange(SettingsError):
    def __init__(self, section, option, value, low, high):
        super().__init__(section, option, "%r is not in %r..%r" % (value, low, high))
        self.value = value
        self.low, self.high = low, high


# --- converters -------------------------------------------------------------------------

def boolean(text):
    states = configparser.ConfigParser.BOOLEAN_STATES
    return states[text.lower()]


def pair(text, kind=float):
    low, high = (kind(part) for part in text.split(","))
    return low, high


def fraction(text):
    return fractions.Fraction(text)


def word(text, allowed=string.ascii_letters + " -"):
    if set(text) - set(allowed):
        raise ValueError("strange characters in %r" % text)
    return text


SCHEMA = MappingProxyType({
    "camera": {
        "exposure": fraction,
        "gain": int,
        "mode": word,
        "label": partial(word, allowed=string.printable),
        "binning": int,
    },
    "stage": {"speed": float, "limits": pair, "home": boolean},
    "laser": {"power": decimal.Decimal, "wavelength": int, "interlock": boolean},
})

RANGES = {
    ("camera", "gain"): (0, 8),
    ("stage", "speed"): (0.0, math.inf),
    ("laser", "wavelength"): (200, 2000),
}

OPTIONAL = {("camera", "binning"): "1"}


class Settings:
    def __init__(self, text=DEFAULT_INI, strict=True):
        self.parser = configparser.ConfigParser(interpolation=None, strict=strict)
        self.parser.read_string(text)
        self.values = {}
        self.problems = []

    @classmethod
    def from_file(cls, path):
        path = Path(path)
        if not path.exists():
            return cls()
        return cls(path.read_text(encoding=locale.getpreferredencoding(False)))

    def convert(self, section, option, kind):
        try:
            text = self.parser[section][option]
        except KeyError as error:
            try:
                text = OPTIONAL[section, option]
            except KeyError:
                raise MissingOption(section, option, "nothing given") from error
        try:
            value = kind(text)
        except (ValueError, LookupError, decimal.InvalidOperation) as error:
            raise SettingsError(section, option, "can't read %r" % text) from error
        low, high = RANGES.get((section, option), (None, None))
        if low is not None and not low <= value <= high:
            raise OutOfRange(section, option, value, low, high)
        return value

    def load(self):
        for section, options in SCHEMA.items():
            for option, kind in options.items():
                try:
                    self.values[section, option] = self.convert(section, option, kind)
                except SettingsError as error:
                    self.complain(error)
        return self

    def complain(self, error):
        message = str(error)
        if error.severity >= Severity.ERROR:
            self.problems.append(message)
        else:
            print("note:", message)

    def save(self, stream=None):
        stream = stream or io.StringIO()
        self.parser.write(stream)
        return stream


@singledispatch
def show(value):
    return str(value)


@show.register(tuple)
def show_tuple(value):
    return " to ".join(map(show, value))


@show.register(fractions.Fraction)
def show_fraction(value):
    return "%d/%d s" % (value.numerator, value.denominator)


@lru_cache(maxsize=None)
def settings():
    return Settings.from_file("instrument-of-nobody.ini").load()


def debug(error):
    while error is not None:
        traceback.print_tb(error.__traceback__)
        error = error.__cause__ or error.__context__


if __name__ == "__main__":
    current = settings()
    for (section, option), value in current.values.items():
        print("%-10s %-12s %s" % (section, option, show(value)))
    pprint.pprint(current.problems)
