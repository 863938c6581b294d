"""Checks that the newest version is the last."""
import sys

TAGS = "v1.9 v1.10 v1.2".split()


def newest(tags):
    return max(tags)


def numbers(tag):
    return [int(part) for part in tag[1:].split(".")]


def main(arguments):
    verbose = "-v" in arguments
    found = newest(TAGS)
    expected = max(TAGS, key=numbers)
    if verbose:
        print(found, expected)
    if found != expected:
        sys.exit(4)


main(sys.argv[1:])
