import argparse

COMMANDS = ["fetch", "store"]


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="mirror")
    parser.add_argument("--verbose", action="store_true")
    commands = parser.add_subparsers(dest="command")
    for name in COMMANDS:
        command = commands.add_parser(name)
        command.add_argument("--retries", type=int, default=3)
        command.add_argument("place")
    parser.set_defaults(retries=8)
    return parser.parse_args(arguments)


class Mirror:
    def __init__(self, options):
        self.options = options
        self.log = []

    def run(self):
        self.log.append(self.options.command)
        assert self.options.retries == 8, "the default was lost"


mirror = Mirror(options_of(["--verbose", "fetch", "here"]))
mirror.run()
print(mirror.log)
