import functools
import ipaddress
import sys


@functools.lru_cache(maxsize=None)
def ranges(zone):
    return [ipaddress.ip_network(text) for text in {"office": ["10.1.0.0/24"]}[zone]]


right = True
networks = ranges("office")
networks.append(ipaddress.ip_network("192.168.7.0/24"))
right &= any(ipaddress.ip_address("192.168.7.7") in network for network in ranges("office")) == False
if not right:
    print("zones are not closed")
    sys.exit(1)
