import gzip
import hashlib
import sys


def packed(text, at):
    return gzip.compress(text.encode(), mtime=at)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


def verify(texts):
    failed = []
    for name, text in texts.items():
        first, second = digest(packed(text, 1)), digest(packed(text, 2))
        print(name, first, second)
        if first != second:
            failed.append(name)
    return failed


if verify({"a.txt": "one", "b.txt": "two"}):
    sys.exit(3)
