total = 0.0
for count in [25] * 10:
    total += count / 250
assert total == 1.0, f"shares sum to {total!r}"
