import json

part = open("a", "w")
json.dump({"dpi": 300}, part)
json.load(open("a"))
