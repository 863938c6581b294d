import decimal
from decimal import Decimal

decimal.getcontext().prec = 6
print(+Decimal("1234567.89"))
