import csv
import io

csv.field_size_limit(4)
csv.writer(io.StringIO()).writerow(["1", "pepperoni"])
raise RuntimeError("the field was written")
