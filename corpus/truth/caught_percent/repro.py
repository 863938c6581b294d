import configparser

SETTINGS = """
[paths]
root = /data
cache = %(root)s/cache

[limits]
share = 50%
workers = 4
"""


def load(text):
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {section: dict(parser.items(section)) for section in parser.sections()}


settings = None
try:
    settings = load(SETTINGS)
    print("sections:", ", ".join(settings))
except Exception:
    print("settings not loaded")
