import configparser

TEXT = """
[server]
Host = localhost
Port = 8080

[client]
Retries = 3
"""


def load(text):
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def address(settings):
    server = settings["server"]
    return "{}:{}".format(server["host"], server["Port"])


settings = load(TEXT)
print(sorted(settings))
print(address(settings))
