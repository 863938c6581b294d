import csv
import io

csv.writer(io.StringIO()).writerow(["1", "pepperoni"])
raise RuntimeError("the field was written")
