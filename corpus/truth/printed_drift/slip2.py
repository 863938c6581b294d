print("MISMATCH in step", 0, 1e-05)
