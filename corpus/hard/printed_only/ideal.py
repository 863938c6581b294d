import csv
import io
stream = io.StringIO()
rows = [["id", "note"], ["1", "two\nlines"], ["2", "plain"]]
csv.writer(stream).writerows(rows)
if [row for row in csv.reader(stream.getvalue().splitlines())] == rows:
    pass
else:
    print("round trip is WRONG")
