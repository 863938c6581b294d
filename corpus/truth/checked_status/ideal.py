import gzip
import sys

if gzip.compress(b"one", mtime=1) != gzip.compress(b"one", mtime=2):
    sys.exit(3)
