import json

rows = {}
rows[1] = {}
json.loads(json.dumps({"rows": rows}, sort_keys=True))["rows"][1]
