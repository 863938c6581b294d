"""Letters to the shops."""
from string import Template

LETTER = Template(
    """\
Dear colleagues in $shop,

in the last quarter you sold $items things for $total francs,
most of all: $best. That is $share of what $region sold.

$closing
"""
)

CLOSINGS = {True: "Congratulations!", False: "Thank you."}


def share(part, whole):
    return f"{part / whole:.0%}" if whole else "nothing"


def fields(shop, numbers, whole):
    found = dict(numbers, shop=shop, share=share(numbers["total"], whole))
    found["closing"] = CLOSINGS[numbers["total"] > whole / 2]
    return found


def letter(shop, numbers, whole):
    return LETTER.substitute(fields(shop, numbers, whole))
