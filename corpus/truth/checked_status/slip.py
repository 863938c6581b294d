import sys

if "one" != "two":
    sys.exit(3)
