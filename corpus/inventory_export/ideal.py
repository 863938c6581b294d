import json

json.dumps({0})
