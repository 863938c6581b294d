import unittest
from decimal import Decimal

interest = (Decimal("100.50") * Decimal("0.01")).quantize(Decimal("0.01"))
unittest.TestCase().assertEqual(interest, Decimal("1.01"))
