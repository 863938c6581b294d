import re

re.sub("x", lambda match: 2023, "x")
