if 19.99 != 20:
    print("MISMATCH")
