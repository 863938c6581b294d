import re

re.sub("", r"C:\Users", "")
