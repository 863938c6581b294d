import copy
import functools
import logging
from decimal import Decimal

log = logging.getLogger("prices")


class Named:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Item(Named):
    def __init__(self, name, net, freight):
        super().__init__(name)
        self.net = Decimal(net)
        self.freight = Decimal(freight)

    @functools.lru_cache(maxsize=32)
    def gross(self, rate):
        return (self.net + self.freight) * rate


class Offer:
    def __init__(self, items):
        self.items = items

    def total(self, rate):
        return sum(item.gross(rate) for item in self.items)

    def raised(self, by):
        other = copy.deepcopy(self)
        for item in other.items:
            item.net += Decimal(by)
        return other


rate = Decimal("1.19")
offer = Offer([Item("desk", "200", "12.50"), Item("lamp", "35", "4")])
log.info("before: %s", offer.total(rate))
raised = offer.raised("10")
expected = sum((item.net + item.freight) * rate for item in raised.items)
found = raised.total(rate)
log.info("after: %s, expected: %s", found, expected)
if found != expected:
    print("PRICES DIFFER")
