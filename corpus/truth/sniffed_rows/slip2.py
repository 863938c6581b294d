import csv
import io

text = 'y1,4,gate\n'
for row in csv.reader(io.StringIO(text), csv.Sniffer().sniff(text)):
    sku, = row
