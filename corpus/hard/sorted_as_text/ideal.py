import sys
TAGS = "v1.9 v1.10".split()
if max(TAGS) != max(TAGS, key=lambda tag: [int(part) for part in tag[1:].split(".")]):
    sys.exit(4)
