import csv
import io

text = 'y2,6,"gate 2; \'a\'; rear; low"\n'
for row in csv.reader(io.StringIO(text), csv.Sniffer().sniff(text)):
    sku, qty, place = row
