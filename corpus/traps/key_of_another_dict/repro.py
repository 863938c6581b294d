"""Names of reports from a template."""
import string

DEFAULTS = {"kind": "sales", "year": "2024"}
ROUTES = {"sales": {"to": "north"}, "costs": {}}


def route(kind, key):
    table = ROUTES.get(kind, {})
    return table[key]


def values(**given):
    merged = dict(DEFAULTS)
    merged.update(given)
    return merged


def title(template, **given):
    merged = values(**given)
    text = string.Template(template).substitute(merged)
    return text.title()


def main():
    print(route("sales", "to"))
    print(title("$kind of $year", year="2025"))
    print(title("$kind in $region"))
    print(route("costs", "region"))


main()
