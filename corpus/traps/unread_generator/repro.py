"""The mean of what a scale weighed."""

import re
from collections import Counter

LINE = re.compile(r"(\w+) (\d+) g")
TEXT = """\
apple 150 g
plum 40 g
broken
apple 163 g
"""


class Scale:
    def __init__(self, name):
        self.name = name
        self.weights = []
        self.kinds = Counter()
        self.skipped = 0

    def read(self, text, watch=False):
        for line in text.splitlines():
            match = LINE.fullmatch(line)
            if match is None:
                self.skipped += 1
                continue
            kind, grams = match.groups()
            self.weights.append(int(grams))
            self.kinds[kind] += 1
            if watch:
                yield kind

    def mean(self):
        return sum(self.weights) / len(self.weights)


def show(scale):
    print(scale.name, "skipped", scale.skipped)
    print(f"mean {scale.mean():.1f} g")
    for kind, count in sorted(scale.kinds.items()):
        print(kind, "*" * count)


scale = Scale("kitchen")
scale.read(TEXT)
show(scale)
