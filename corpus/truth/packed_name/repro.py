import json
import shutil
import tempfile
import zipfile
from pathlib import Path

SETTINGS = {"title": "Herbs", "pages": 12}


def write_parts(folder, parts):
    folder.mkdir()
    for name, text in parts.items():
        (folder / name).write_text(text)
    return sorted(path.name for path in folder.iterdir())


def pack(home, folder):
    target = home / "parcel"
    return shutil.make_archive(str(target), "zip", root_dir=home, base_dir=folder)


def describe(archive, name):
    info = archive.getinfo(name)
    return f"{info.filename}: {info.file_size} bytes"


with tempfile.TemporaryDirectory() as place:
    home = Path(place)
    parts = {"notes.txt": "basil, thyme", "settings.json": json.dumps(SETTINGS)}
    written = write_parts(home / "herbs", parts)
    print("written:", ", ".join(written))
    packed = pack(home, "herbs")
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        print(len(names), "entries")
        assert archive.getinfo("notes.txt").file_size > 0
        print(describe(archive, "settings.json"))
