"""The import: reads, prices and stores."""
import logging

from . import reading

log = logging.getLogger(__name__)


class Import:
    def __init__(self, pricing, store):
        self.pricing = pricing
        self.store = store
        self.totals = {}

    def run(self, text):
        for order in reading.orders(text):
            total = self.pricing.total(order)
            log.info("order %s of %s: %s", order.number, order.customer, total)
            self.store.save(order, total)
            self.totals[order.number] = total
        return sum(self.totals.values())
