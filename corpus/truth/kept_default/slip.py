import argparse

parser = argparse.ArgumentParser(prog="mirror")
parser.add_argument("--verbose", action="store_true")
command = parser.add_subparsers(dest="command").add_parser("fetch")
command.add_argument("--retries", type=int, default=3)
command.add_argument("place")
parser.set_defaults(retries=1)
assert parser.parse_args(["fetch", "here"]).retries == 8, "the default was lost"
