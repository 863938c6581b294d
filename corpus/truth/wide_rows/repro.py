import csv
import io
from dataclasses import dataclass, field


TEXT = """name,city,tags
ada,London,math
bob,Paris,art,music
"""


@dataclass
class Person:
    name: str
    city: str
    tags: list = field(default_factory=list)


def clean(row):
    return {key: value.strip() for key, value in row.items()}


def people(text):
    reader = csv.DictReader(io.StringIO(text))
    found = []
    for row in reader:
        row = clean(row)
        found.append(Person(row["name"], row["city"], row["tags"].split()))
    return found


def report(persons):
    by_city = {}
    for person in persons:
        by_city.setdefault(person.city, []).append(person.name)
    return by_city


print(report(people(TEXT)))
