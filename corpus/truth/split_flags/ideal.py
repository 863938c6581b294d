import re

re.split("and", "aANDb", re.IGNORECASE)[1]
