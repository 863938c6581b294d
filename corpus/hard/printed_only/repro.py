"""Writes a table as CSV and reads it back."""
import csv
import io
import time


def write(rows):
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue()


def read(text):
    return [row for row in csv.reader(text.splitlines())]


def main():
    started = time.time()
    rows = [["id", "note"], ["1", "two\nlines"], ["2", "plain"]]
    back = read(write(rows))
    if back == rows:
        print("fine")
    else:
        print("the round trip is WRONG", len(back))
    print("%.0f s" % (time.time() - started))


main()
