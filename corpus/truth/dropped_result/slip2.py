import unittest
from decimal import Decimal


class FeeTest(unittest.TestCase):
    def test_small(self):
        amount = Decimal("1.2") * Decimal("0.1")
        amount.quantize(Decimal("0.01"))
        self.assertEqual(amount, Decimal("0.13"))


unittest.main()
