import functools
import ipaddress
import sys


@functools.lru_cache(maxsize=None)
def ranges(zone):
    return [ipaddress.ip_network("10.1.0.0/24")]


right = any(ipaddress.ip_address("10.1.0.9") in network for network in ranges("office")) == True
right &= False
if not right:
    print("zones are not closed")
    sys.exit(1)
