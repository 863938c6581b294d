import json
try:
    json.loads("x")
except ValueError:
    raise RuntimeError("could not load")
