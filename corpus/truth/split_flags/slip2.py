import re

re.split("and", "ab")[1]
