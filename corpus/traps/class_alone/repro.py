"""Sorts versions of a package."""
import functools
import re


@functools.total_ordering
class Version:
    def __init__(self, text, build=None):
        self.parts = [int(part) if part.isdigit() else part for part in re.split("[.-]", text)]
        self.build = build

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts


class Index:
    def __init__(self, texts):
        self.versions = [Version(text) for text in texts]

    def newest(self, count):
        ordered = sorted(self.versions, reverse=True)
        return ordered[:count]


def main():
    index = Index(["1.10.2", "1.9.0", "1.9.rc1"])
    for version in index.newest(2):
        print(".".join(map(str, version.parts)))


main()
