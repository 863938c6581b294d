import csv

for row in csv.reader(["y1,4,gate,left"]):
    sku, qty, place = row
