import unittest
from decimal import Decimal


class FeeTest(unittest.TestCase):
    def test_small(self):
        self.assertEqual(Decimal("0.12"), Decimal("0.13"))


unittest.main()
