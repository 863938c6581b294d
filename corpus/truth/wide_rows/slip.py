import csv

for row in csv.DictReader("bob,Paris,art,music\n"):
    {key: value.strip() for key, value in row.items()}
