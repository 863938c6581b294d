import os

DEFAULTS = {"REGION": "eu-1", "TIER": "small"}


def prepare(overrides):
    values = dict(DEFAULTS, **overrides)
    for name, value in values.items():
        if name not in os.environ:
            os.putenv(name, value)
    return sorted(values)


def endpoint(service):
    return f"https://{service}.{os.environ['REGION']}.example.com"


names = prepare({"TIER": "large"})
print("prepared", names)
print(endpoint("storage"))
