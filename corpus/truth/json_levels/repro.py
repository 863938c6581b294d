import json
import pathlib
import tempfile


def save(path, levels):
    path.write_text(json.dumps({"levels": levels, "version": 1}))


def load(path):
    return json.loads(path.read_text())["levels"]


def name_of(levels, number):
    entry = levels[number]
    return entry["name"].title()


store = pathlib.Path(tempfile.mkdtemp()) / "levels.json"
save(store, {1: {"name": "ground"}, 2: {"name": "first floor"}})
levels = load(store)
print(len(levels), "levels")
print(name_of(levels, 2))
