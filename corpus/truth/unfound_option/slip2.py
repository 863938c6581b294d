import configparser

parser = configparser.ConfigParser()
parser.read_dict({"client": {"Proxy": "none"}})

found = None
for name in parser.sections():
    section = dict(parser[name])
    value = section.get("Retry")
    if isinstance(value, str):
        found = value

if isinstance(found, str):
    pass
else:
    print("[lost] Retry of the client is gone")
