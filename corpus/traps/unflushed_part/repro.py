"""Keeps the settings of a scanner in a file that is replaced as a whole."""

import json
import os
import tempfile
import time


class Settings:
    def __init__(self, folder):
        self.path = os.path.join(folder, "scanner.json")
        self.saved = 0

    def save(self, values):
        part = open(self.path + ".part", "w", encoding="utf-8")
        json.dump({"version": 2, "values": values}, part, indent=1)
        os.replace(part.name, self.path)
        self.saved += 1
        return part

    def load(self):
        with open(self.path, encoding="utf-8") as source:
            return json.load(source)["values"]


def describe(values):
    return ", ".join(f"{name} {value}" for name, value in sorted(values.items()))


begun = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    settings = Settings(folder)
    values = {"dpi": 300, "colour": True}
    print(describe(values))
    part = settings.save(values)
    print(settings.saved, sorted(os.listdir(folder)))
    values["dpi"] = 600
    print(describe(settings.load()), "after", time.perf_counter() - begun)
