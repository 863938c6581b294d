print("MISMATCH", "book", 19.99, 20)
