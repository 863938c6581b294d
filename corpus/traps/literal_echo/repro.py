"""Chooses a projection by name."""
import collections
import configparser

TEXT = """
[view]
mode = not a valid mode: plane
zoom = 3
[not a valid mode: plane]
zoom = 4
"""


def settings():
    parser = configparser.ConfigParser()
    parser.read_string(TEXT)
    return parser


def widths(parser):
    found = collections.OrderedDict()
    for section in parser.sections():
        found[section] = parser.getint(section, "zoom") * 10
    return found


def main():
    parser = settings()
    found = widths(parser)
    print(len(found), "sections")
    mode = parser.get("view", "mode")
    zoom = int(mode)
    print(found[mode], zoom)
    print(parser[mode]["scale"])


main()
