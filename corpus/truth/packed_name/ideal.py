import shutil
import tempfile
import zipfile
from pathlib import Path

with tempfile.TemporaryDirectory() as place:
    home = Path(place)
    (home / "herbs").mkdir()
    (home / "herbs" / "notes.txt").write_text("")
    packed = shutil.make_archive(str(home / "parcel"), "zip", root_dir=home, base_dir="herbs")
    with zipfile.ZipFile(packed) as archive:
        assert archive.getinfo("notes.txt").file_size > 0
