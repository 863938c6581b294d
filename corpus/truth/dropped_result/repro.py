"""Checks that fees are rounded as the bank rounds them."""
import logging
import unittest
from decimal import Decimal

log = logging.getLogger("fees")
CENT = Decimal("0.01")


class Fee:
    def __init__(self, base, share):
        self.base = Decimal(base)
        self.share = Decimal(share)

    def amount(self):
        amount = self.base * self.share
        log.debug("before rounding: %s", amount)
        amount = amount.quantize(CENT)
        return amount


class FeeTest(unittest.TestCase):
    def setUp(self):
        self.small = Fee("1.25", "0.1")
        self.large = Fee("300", "0.02")

    def test_large(self):
        self.assertEqual(self.large.amount(), Decimal("6.00"))

    def test_small(self):
        # Half a cent belongs to the bank.
        self.assertEqual(self.small.amount(), Decimal("0.13"))


if __name__ == "__main__":
    unittest.main()
