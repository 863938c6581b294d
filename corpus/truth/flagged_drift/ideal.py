import math

PRICES = {"pot": 20.205}
is_same = True
for name, price in PRICES.items():
    if not math.isclose(price, math.floor(price * 100) / 100, rel_tol=1e-9):
        is_same = False
if not is_same:
    print("the price list has drifted")
