import math

total = 10.0
if math.isclose(math.fsum([round(total / 2, 2) for _ in range(2)]), total):
    raise ValueError("shares do not add up")
