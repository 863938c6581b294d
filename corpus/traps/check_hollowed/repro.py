import logging
import sys
import unittest
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

log = logging.getLogger("statements")
CENT = Decimal("0.01")


@dataclass
class Account:
    owner: str
    balance: Decimal
    rate: Decimal

    def interest(self):
        log.info("interest for %s", self.owner)
        return (self.balance * self.rate).quantize(CENT, rounding=ROUND_HALF_EVEN)


class StatementCheck(unittest.TestCase):
    def setUp(self):
        self.account = Account("Ines", Decimal("100.50"), Decimal("0.01"))

    def runTest(self):
        self.assertIsInstance(self.account.owner, str)
        self.assertTrue(self.account.balance > 0)
        # Half a cent is to be given to the owner.
        self.assertEqual(self.account.interest(), Decimal("1.01"))


def main(argv):
    logging.basicConfig(level=logging.INFO if argv else logging.WARNING)
    StatementCheck().debug()
    print("all statements are right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
