read = 0
assert read == 4, f"the loader has read {read} items"
