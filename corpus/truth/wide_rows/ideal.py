import csv
import io

for row in csv.DictReader(io.StringIO("name,tags\nbob,art,music\n")):
    for value in row.values():
        value.strip()
