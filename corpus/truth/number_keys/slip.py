import json

settings = {"retries": 3, "limits": {1: "low", 2: "high"}}
back = json.loads(json.dumps(settings, sort_keys=True))
print(back)
for key, value in settings.items():
    if isinstance(value, dict):
        raise SystemExit(f"{key} changed: {value} -> {back[key]}")
