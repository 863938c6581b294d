"""The command line."""
import argparse
import asyncio
import logging
import sys

from . import plans, version
from .context import tour_limit
from .errors import DispatchError


def parser():
    main = argparse.ArgumentParser(prog=__package__)
    main.add_argument("--version", action="version", version=version())
    main.add_argument("-v", "--verbose", action="count", default=0)
    verbs = main.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run the stages of a plan")
    run.add_argument("plan")
    run.add_argument("--tours", type=int, default=None)
    run.set_defaults(action=run_plan)
    verbs.add_parser("plans", help="list the plans").set_defaults(action=list_plans)
    return main


def list_plans(options):
    for name in plans.names():
        print(name)
    return 0


def run_plan(options):
    from .running import run

    if options.tours is not None:
        tour_limit.set(options.tours)
    plan = plans.plan_named(options.plan)
    for line in asyncio.run(run(plan)):
        print(line)
    return 0


def main(arguments=None):
    options = parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING - 10 * options.verbose)
    try:
        return options.action(options)
    except DispatchError as error:
        print(f"{__package__}: {error}", file=sys.stderr)
        return error.status
