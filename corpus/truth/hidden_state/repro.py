import logging
from dataclasses import dataclass, field
from typing import Dict, List

logging.basicConfig(level=logging.WARNING)


@dataclass
class Form:
    title: str
    fields: List[str]


class Upper:
    def __call__(self, text):
        return text.strip().upper()


@dataclass
class Register:
    forms: Dict[str, Form] = field(default_factory=dict)

    def fill(self, titles, rows):
        for title, row in zip(titles, rows):
            self.forms[title] = Form(title, row.split())


class Check:
    def __init__(self, register, shape):
        self.register = register
        self.shape = shape
        self.problems = []

    def run(self, titles):
        known = {self.shape(title) for title in self.register.forms}
        for title in titles:
            if self.shape(title) not in known:
                self.problems.append("one form is missing")


def prepare(register, titles):
    rows = iter("name street\nname total\n".splitlines())
    logging.info("first row: %s", next(rows))
    register.fill(titles, rows)


titles = ["order", " bill"]
register = Register()
prepare(register, titles)
check = Check(register, Upper())
check.run(titles)
for problem in check.problems:
    print("FAILED:", problem)
