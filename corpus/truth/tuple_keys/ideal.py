import json

json.dumps({(0, 0): "."}, default=str)
