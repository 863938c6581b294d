total = 0.0
assert total == 1.0, f"shares sum to {total!r}"
