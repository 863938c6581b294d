import json

DEFAULTS = {"retries": 3, "limits": {1: "low", 2: "high"}}


def effective(**changes):
    return {**DEFAULTS, **changes}


def there_and_back(settings):
    return json.loads(json.dumps(settings, sort_keys=True))


settings = effective(retries=5)
back = there_and_back(settings)
for key, value in settings.items():
    if isinstance(value, dict) and back[key] != value:
        raise SystemExit(f"{key} changed: {value} -> {back[key]}")
