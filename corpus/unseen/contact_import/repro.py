"""Merge address lists from several spreadsheets into one clean CSV file.

Everything is read with csv.DictReader, cleaned, deduplicated and written
with csv.DictWriter. With the file from the Hamburg office the export fails,
and the message talks of a field called None, which I have nowhere.
"""
import argparse
import csv
import logging
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

log = logging.getLogger("contacts")

FIELDS = ["name", "email", "phone", "city", "source"]
ALIASES = {
    "e-mail": "email",
    "mail": "email",
    "full name": "name",
    "telephone": "phone",
    "tel": "phone",
    "town": "city",
}

SAMPLES = {
    "berlin.csv": (
        "Full Name,E-Mail,Telephone,Town\n"
        "Anna Krüger,anna@example.org,030 / 12 34 5,Berlin\n"
        "Böhm Tom,TOM@example.org,,Berlin\n"
    ),
    "hamburg.csv": (
        "name;mail;tel;city\n"
        "Ines Otto;ines@example.com;040-777;Hamburg\n"
        "Kai Behn;kai@example.com;040-778;Hamburg;\n"
        "Anna Krüger;anna@example.org;;Hamburg\n"
    ),
    "readme.txt": "not a list\n",
}


def normalize(text):
    text = unicodedata.normalize("NFC", text)
    return re.sub(r"\s+", " ", text).strip()


def clean_phone(text):
    digits = re.sub(r"\D", "", text)
    if digits.startswith("0"):
        digits = "+49" + digits[1:]
    return digits


CLEANERS = {
    "email": str.lower,
    "phone": clean_phone,
    "city": str.title,
}


class Source:
    """One input file. Guesses the delimiter from the first line."""

    encodings = ("utf-8", "latin-1")

    def __init__(self, path):
        self.path = Path(path)
        self.count = 0

    def text(self):
        for encoding in self.encodings:
            try:
                return self.path.read_text(encoding)
            except UnicodeDecodeError:
                log.info("%s is not %s", self.path.name, encoding)
        return ""

    def delimiter(self, head):
        return max(",;\t", key=head.count)

    def header(self, names):
        result = []
        for name in names:
            name = normalize(name).lower()
            result.append(ALIASES.get(name, name))
        return result

    def __iter__(self):
        lines = self.text().splitlines()
        if not lines:
            return
        mark = self.delimiter(lines[0])
        names = self.header(next(csv.reader(lines[:1], delimiter=mark)))
        for row in csv.DictReader(lines[1:], fieldnames=names, delimiter=mark):
            self.count += 1
            row["source"] = self.path.stem
            yield row


class AddressBook:
    def __init__(self):
        self.rows = {}
        self.stats = Counter()

    def key(self, row):
        return row.get("email") or row["name"].casefold()

    def clean(self, row):
        for field, cleaner in CLEANERS.items():
            value = row.get(field)
            if value:
                row[field] = cleaner(normalize(value))
        return row

    def add(self, row):
        row = self.clean(row)
        key = self.key(row)
        known = self.rows.get(key)
        if known is None:
            self.rows[key] = row
            self.stats["new"] += 1
            return
        self.stats["merged"] += 1
        for field, value in row.items():
            if value and not known.get(field):
                known[field] = value

    def sorted(self, by="name"):
        return sorted(self.rows.values(), key=lambda row: row[by])


class Exporter:
    def __init__(self, folder, *, limit=None):
        self.folder = folder
        self.limit = limit

    def path(self, name):
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{name}.csv"

    def write(self, name, rows):
        target = self.path(name)
        with target.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, restval="-", quoting=csv.QUOTE_MINIMAL)
            writer.writeheader()
            for row in rows[: self.limit]:
                writer.writerow(row)
        return target


def collect(folder, book):
    for path in sorted(folder.glob("*.csv")):
        source = Source(path)
        for row in source:
            book.add(row)
        log.info("%s: %d rows", path.name, source.count)


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sort", default="name", choices=FIELDS)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args()


def main():
    options = parse_arguments()
    logging.basicConfig(level=logging.ERROR if options.quiet else logging.WARNING)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, text in SAMPLES.items():
            (folder / name).write_text(text, encoding="utf-8")
        book = AddressBook()
        collect(folder, book)
        print(dict(book.stats))
        exporter = Exporter(folder / "out", limit=options.limit)
        target = exporter.write("contacts", book.sorted(options.sort))
        shutil.copy(target, target.with_suffix(".bak"))
        print(target.read_text("utf-8"))


if __name__ == "__main__":
    main()
