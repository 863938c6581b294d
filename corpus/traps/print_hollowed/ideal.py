import math

values = [0.1] * 10
total = 0.0
for value in values:
    total += value
if total != math.fsum(values):
    print("MISMATCH between the sums")
