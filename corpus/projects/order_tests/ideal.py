from decimal import Decimal

Decimal(",")
