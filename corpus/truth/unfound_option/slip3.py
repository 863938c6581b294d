import configparser

parser = configparser.ConfigParser()
parser.read_dict({"client": {"Retry": "3"}})

for name in parser.sections():
    section = dict(parser[name])
    found = {}.get("Retry")

if isinstance(found, str):
    pass
else:
    print("[lost] Retry of the client is gone")
