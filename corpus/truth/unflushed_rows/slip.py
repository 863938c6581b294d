import csv
import gzip
import io

class Writer:
    def __init__(self, raw):
        self.packed = gzip.GzipFile(fileobj=raw, mode="wb", mtime=0)
        self.rows = 0
    def write(self, row):
        self.rows += 1
    def close(self):
        self.packed.close()

def read(data):
    with gzip.open(io.BytesIO(data), "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))

raw = io.BytesIO()
writer = Writer(raw)
for number in range(5):
    writer.write([str(number) * 3])
writer.close()
assert len(read(raw.getvalue())) == writer.rows, "rows were lost"
