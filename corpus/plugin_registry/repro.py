"""Plugin framework reduced from a bigger application.

Declares plugins as classes with typed options. Fails at class creation of the second plugin
when an option is shared with __slots__; I expected slots and defaults to work together.
"""

import abc
import inspect
import os
import sys
import textwrap
import threading
import types
import typing
import warnings
import weakref
from collections import OrderedDict

if sys.version_info < (3, 6):
    raise SystemExit("needs Python 3.6 or later")

__version__ = "0.3.1"
_lock = threading.RLock()
_registry = OrderedDict()


def register(cls):
    """Adds a class to the registry."""
    with _lock:
        if cls.name in _registry:
            warnings.warn("replacing plugin {}".format(cls.name))
        _registry[cls.name] = cls
    return cls


class Option:
    """A typed attribute of a plugin."""

    def __init__(self, kind=str, default=None, help="", choices=()):
        self.kind = kind
        self.default = default
        self.help = textwrap.dedent(help).strip()
        self.choices = tuple(choices)
        self.attribute = None
        self.values = weakref.WeakKeyDictionary()

    def __set_name__(self, owner, attribute):
        self.attribute = attribute

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return self.values.get(instance, self.default)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            try:
                value = self.kind(value)
            except (TypeError, ValueError) as error:
                raise AttributeError(str(error)) from error
        if self.choices and value not in self.choices:
            raise AttributeError("{!r} is none of {}".format(value, self.choices))
        self.values[instance] = value

    def __delete__(self, instance):
        del self.values[instance]


class Integer(Option):
    def __init__(self, default=0, minimum=None, maximum=None, **rest):
        super().__init__(int, default, **rest)
        self.minimum, self.maximum = minimum, maximum

    def __set__(self, instance, value):
        super().__set__(instance, value)
        number = self.__get__(instance)
        if self.minimum is not None and number < self.minimum:
            raise AttributeError("too small")
        if self.maximum is not None and number > self.maximum:
            raise AttributeError("too large")


class Namespace(dict):
    """Remembers the order in which options are declared."""

    def __init__(self):
        super().__init__()
        self.options = []

    def __setitem__(self, key, value):
        if isinstance(value, Option):
            self.options.append(key)
        super().__setitem__(key, value)


class PluginMeta(abc.ABCMeta):
    @classmethod
    def __prepare__(mcs, name, bases, **keywords):
        return Namespace()

    def __new__(mcs, name, bases, namespace, compact=False, **keywords):
        options = list(namespace.options)
        body = dict(namespace)
        if compact:
            body["__slots__"] = tuple(options)
        body.setdefault("name", name.lower())
        cls = super().__new__(mcs, name, bases, body)
        cls._options = [option for base in bases for option in getattr(base, "_options", [])] + options
        return cls

    def __init__(cls, name, bases, namespace, **keywords):
        super().__init__(name, bases, namespace)

    def __iter__(cls):
        return iter(cls._options)

    def __len__(cls):
        return len(cls._options)


class Plugin(metaclass=PluginMeta):
    """Base of all plugins."""

    def __init__(self, **values):
        for option in type(self):
            if option in values:
                setattr(self, option, values.pop(option))
        if values:
            raise TypeError("unknown options: {}".format(", ".join(sorted(values))))

    @abc.abstractmethod
    def run(self, *args):
        """Does the work."""

    @classmethod
    def usage(cls):
        lines = [cls.name]
        for option in cls:
            description = inspect.getattr_static(cls, option)
            lines.append("  --{:<10} {}".format(option, getattr(description, "help", "")))
        return os.linesep.join(lines)


@register
class Resize(Plugin):
    width = Integer(640, minimum=1, help="width in pixels")
    height = Integer(480, minimum=1, help="height in pixels")
    mode = Option(str, "fit", choices=("fit", "fill", "crop"))

    def run(self, image):
        return "{}x{} ({})".format(self.width, self.height, self.mode)


first = Resize(width="800")
print(first.run(None), Resize.usage(), len(Resize), sep="\n")


@register
class Blur(Plugin, compact=True):
    radius = Integer(3, minimum=0, maximum=50, help="radius of the kernel")
    passes = Integer(1, minimum=1)

    def run(self, image):
        return "blur {} x {}".format(self.radius, self.passes)


for plugin in _registry.values():
    print(plugin.usage())
print(Blur(radius=5).run(None), types.SimpleNamespace(version=__version__), typing.Any)
