import re

LINE = "host=a1 AND zone=b and state=up And load=3"


def terms(text):
    return re.split(r"\s+and\s+", text, re.IGNORECASE)


def parse(text):
    pairs = [term.split("=", 1) for term in terms(text)]
    return {"host": pairs[0][1], "zone": pairs[1][1], "load": pairs[3][1]}


def describe(text):
    found = parse(text)
    return ", ".join(f"{name} is {value}" for name, value in found.items())


print(describe(LINE))
