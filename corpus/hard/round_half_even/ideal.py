import decimal
price = round(decimal.Decimal("2.5"))
if price != int(decimal.Decimal("2.5") + decimal.Decimal("0.5")):
    raise ValueError("wrong price")
