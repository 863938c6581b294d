import csv
import io

EXPORT = "id,name,price\n1,lamp,20\n2,desk,85\n".encode("utf-8-sig")


def rows(data):
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    return list(csv.DictReader(text))


def index(data):
    found = {}
    for row in rows(data):
        found[row["id"]] = row["name"], float(row["price"])
    return found


items = index(EXPORT)
print(items["2"])
