#!/usr/bin/env python3
"""
deployctl -- push a service to one of our environments.

This is the whole tool with the network parts taken out. Run it WITHOUT arguments: it should
print the help of every sub-command (that is what our docs job does), instead there is a
traceback from deep inside argparse. All the sub-commands work fine when I call them!
"""

import argparse
import collections
import getpass
import json
import logging
import os
import platform
import re
import shlex
import sys
import typing as t
from dataclasses import dataclass, field
from pathlib import PurePosixPath

logger = logging.getLogger("deployctl")

VERSION = "2.4.0"
EPILOG = """\
Environment variables:
  DEPLOY_TARGET   default for --target
  DEPLOY_DRY_RUN  set to 1 to never change anything
"""

# name -> (cpu cores, memory in MiB, replicas)
SIZES = {
    "nano": (0.25, 128, 1),
    "small": (0.5, 256, 1),
    "medium": (1.0, 1024, 2),
    "large": (4.0, 4096, 3),
    "huge": (16.0, 32768, 5),
}

TARGETS = ["dev", "staging", "canary", "production"]


@dataclass
class Setting:
    """One command line switch, so that I can generate the docs from it."""

    flag: str
    help: str
    short: t.Optional[str] = None
    type: t.Callable = str
    default: t.Any = None
    choices: t.Optional[t.Sequence[str]] = None
    switch: bool = False

    def names(self) -> t.List[str]:
        return [self.short, self.flag] if self.short else [self.flag]

    def keywords(self) -> t.Dict[str, t.Any]:
        if self.switch:
            return {"action": "store_true", "help": self.help}
        keywords = {"type": self.type, "default": self.default, "help": self.help}
        if self.choices:
            keywords["choices"] = self.choices
        return keywords


@dataclass
class Command:
    name: str
    summary: str
    settings: t.List[Setting] = field(default_factory=list)
    aliases: t.Tuple[str, ...] = ()

    def add(self, *settings: Setting) -> "Command":
        self.settings.extend(settings)
        return self


def megabytes(text: str) -> int:
    """Parses 512, 512M or 2G."""
    match = re.fullmatch(r"(\d+)([MG]?)", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"not a size: {text!r}")
    number = int(match.group(1))
    return number * 1024 if match.group(2) == "G" else number


def share(text: str) -> float:
    value = float(text.rstrip("%"))
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError("a share is between 0 and 100")
    return value / 100


COMMON = [
    Setting("--target", "environment to work on", "-t", default=os.environ.get("DEPLOY_TARGET", "dev"), choices=TARGETS),
    Setting("--dry-run", "print what would be done", "-n", switch=True),
    Setting("--verbose", "say more", "-v", switch=True),
]

COMMANDS = [
    Command("push", "upload an image and start it", aliases=("deploy",)).add(
        Setting("--image", "name of the image"),
        Setting("--size", "one of the predefined sizes", default="small", choices=sorted(SIZES)),
        Setting("--env", "extra environment variables, comma separated", "-e", default=""),
    ),
    Command("scale", "change the resources of a running service").add(
        Setting("--replicas", "number of instances", type=int, default=1),
        Setting("--memory", "memory limit, such as 512M", type=megabytes, default=256),
        Setting("--quota", "share of the CPU, up to 80% of the node", type=share, default=0.5),
    ),
    Command("status", "show what runs where", aliases=("ps", "list")).add(
        Setting("--format", "output format", choices=("text", "json")),
    ),
    Command("rollback", "go back to an earlier version").add(
        Setting("--steps", "how many versions", type=int, default=1),
    ),
]


class Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog, indent_increment=2, max_help_position=32, width=100):
        super().__init__(prog, indent_increment, max_help_position, width)


class Settings(collections.ChainMap):
    """Command line over environment over defaults."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def build_parser():
    parser = argparse.ArgumentParser(prog="deployctl", formatter_class=Formatter, epilog=EPILOG, add_help=True)
    parser.add_argument("--version", action="version", version=f"{parser.prog} {VERSION}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    children = {}
    for command in COMMANDS:
        child = subparsers.add_parser(
            command.name, help=command.summary, aliases=command.aliases, formatter_class=Formatter
        )
        group = child.add_argument_group("common options")
        for setting in COMMON:
            group.add_argument(*setting.names(), **setting.keywords())
        for setting in command.settings:
            child.add_argument(*setting.names(), **setting.keywords())
        child.set_defaults(run=RUNNERS.get(command.name, run_nothing))
        children[command.name] = child
    return parser, children


def run_push(options):
    cores, memory, replicas = SIZES[options.size]
    line = ["run", "--cpus", str(cores), "--memory", f"{memory}m", options.image or "latest"]
    for pair in filter(None, options.env.split(",")):
        line += ["--env", pair]
    print(" ".join(map(shlex.quote, line)), "x", replicas)
    return 0


def run_status(options):
    report = {"host": platform.node(), "user": getpass.getuser(), "target": options.target}
    print(json.dumps(report, indent=2) if options.format == "json" else report)
    return 0


def run_nothing(options):
    logger.warning("not in this cut-down version")
    return 3


RUNNERS = {"push": run_push, "status": run_status}


def print_manual(parser, children):
    """Everything on one page, for the docs."""
    parser.print_help()
    for name in sorted(children):
        print()
        print("-" * 8, name, "-" * 8)
        children[name].print_help()


def main(argv: t.Optional[t.List[str]] = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    logging.basicConfig(format="{levelname}: {message}", style="{", level=logging.INFO)
    parser, children = build_parser()
    if not argv:
        print_manual(parser, children)
        return 0
    options = parser.parse_args(argv)
    if options.verbose:
        logger.setLevel(logging.DEBUG)
        logger.debug("running from {}".format(PurePosixPath("/")))
    return options.run(options)


if __name__ == "__main__":
    for line in ("push --image web:17 --size medium -e A=1,B=2", "scale --quota 40%", "rollback -n"):
        code = main(shlex.split(line))
        print("->", code)
    sys.exit(main([]))
