import unittest
from decimal import Decimal


class FeeTest(unittest.TestCase):
    def test_small(self):
        amount = Decimal("1.25") * Decimal("0.1")
        self.assertEqual(amount.quantize(Decimal("0.01")), Decimal("0.13"))


unittest.main()
