import copy
import functools
from decimal import Decimal


class Item:
    net = Decimal(200)

    def __eq__(self, other):
        return isinstance(other, Item)

    def __hash__(self):
        return hash("")

    @functools.lru_cache(maxsize=32)
    def gross(self, rate):
        return self.net * rate


class Offer:
    def __init__(self):
        self.items = [Item()]

    def total(self):
        return sum(item.gross(2) for item in self.items)


offer = Offer()
raised = copy.deepcopy(offer)
for item in raised.items:
    item.net += 10
expected = sum((item.net + 1) * 2 for item in raised.items)
if raised.total() != expected:
    print("PRICES DIFFER")
