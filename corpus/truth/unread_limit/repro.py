import csv
import io
import logging

logging.basicConfig(level="INFO")
csv.field_size_limit(4)

out = io.StringIO()
writer = csv.writer(out)
writer.writerow(["id", "name"])
logging.info("%s", out.getvalue())
writer.writerow(["1", "pepperoni"])

raise RuntimeError("the field was written")
