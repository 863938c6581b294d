import re

CHOICES = {"size": ["S", "M"], "year": [2023, 2024], "colour": ["red"]}
FORM = "Comes in {size} and {colour}, made in {year}."


class Page:
    def __init__(self, form):
        self.form = form
        self.seen = []

    def text(self):
        return re.sub(r"\{(\w+)\}", self.filled, self.form)

    def filled(self, match):
        name = match.group(1)
        self.seen.append(name)
        return " or ".join(CHOICES[name])


page = Page(FORM)
print(page.text())
print(page.seen)
