import csv
import io

csv.DictWriter(io.StringIO(), "").writerow({None: 1})
