import contextlib
import csv

reader = csv.reader(["alpha"])


@contextlib.contextmanager
def first_row():
    for row in reader:
        yield row


list(reader)
with first_row():
    pass
