"""Loads settings from JSON, with a fallback that never comes into play."""
import json


class Loader:
    def __init__(self, text, name):
        self.text = text
        self.name = name
        self.attempts = 0

    def load(self):
        self.attempts += 1
        try:
            data = json.loads(self.text)
            return {key.lower(): value for key, value in data.items()}
        except ValueError as error:
            raise RuntimeError("could not load %s" % self.name) from error


def main():
    texts = {"base": '{"A": 1}', "user": '{"a": 01}'}
    merged = {}
    for name, text in texts.items():
        merged.update(Loader(text, name).load())
    print(merged)


main()
