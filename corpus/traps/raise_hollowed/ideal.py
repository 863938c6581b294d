import json

class LedgerError(Exception):
    pass

total = 0.0
for row in json.loads("[0.1, 0.2, -0.3]"):
    total += row
if total != 0:
    raise LedgerError("does not balance")
