"""Which addresses a zone lets in, with a guest range for one export."""
import functools
import ipaddress
import sys

ZONES = {"office": ["10.1.0.0/24", "10.1.2.0/24"], "lab": ["10.9.0.0/28"]}


@functools.lru_cache(maxsize=None)
def ranges(zone):
    return [ipaddress.ip_network(text) for text in ZONES[zone]]


def lets_in(zone, address):
    return any(ipaddress.ip_address(address) in network for network in ranges(zone))


def export(zone, guests):
    networks = ranges(zone)
    networks.append(ipaddress.ip_network(guests))
    for network in networks:
        print(zone, "allow", network)


def check(zone, address, expected):
    return lets_in(zone, address) == expected


right = check("office", "10.1.2.9", True)
right &= check("office", "192.168.7.7", False)
export("office", "192.168.7.0/24")
export("lab", "192.168.8.0/24")
right &= check("lab", "10.9.0.3", True)
right &= check("office", "192.168.7.7", False)
if not right:
    print("zones are not closed")
    sys.exit(1)
