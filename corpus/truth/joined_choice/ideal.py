import re

re.sub("x", lambda match: "".join([2023]), "x")
