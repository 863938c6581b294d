import contextlib
import csv

LINES = ["name,port", "alpha,80", "beta,8080"]

reader = csv.DictReader(LINES)


@contextlib.contextmanager
def first_row(rows, wanted):
    for row in rows:
        if wanted in row["name"]:
            yield row
            return


def port(wanted):
    with first_row(reader, wanted) as row:
        return int(row["port"])


print("beta:", port("beta"))
print("alpha:", port("alpha"))
