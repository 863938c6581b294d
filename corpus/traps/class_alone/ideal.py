import re

def parts(text):
    return [int(part) if part.isdigit() else part for part in re.split("[.-]", text)]

sorted([parts("9.rc1"), parts("9.0")])
