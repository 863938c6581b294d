import math

total = 10.0
if not math.isclose(math.fsum([round(total / 3, 2) for _ in range(3)]), total):
    raise ValueError("shares do not add up")
