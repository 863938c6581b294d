import configparser

settings = {
    "server": {"Host": "localhost", "Port": "8080"},
    "client": {"Retry": "3", "Proxy": "none"},
}

parser = configparser.ConfigParser()
parser.read_dict(settings)

given = settings.get("client", {}).get("Retry")
print("given:", given)

found_retry = None
found_host = None
for name in parser.sections():
    section = dict(parser[name])
    value = section.get("Host")
    if isinstance(value, str):
        found_host = value
    value = section.get("Retry")
    if isinstance(value, str):
        found_retry = value

if isinstance(found_host, str):
    print("[ok] Host was kept")
else:
    print("[lost] Host of the server is gone")

if isinstance(found_retry, str):
    print("[ok] Retry was kept")
else:
    print("[lost] Retry of the client is gone")
