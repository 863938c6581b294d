import json

json.loads(json.dumps({2: "first floor"}))[2]
