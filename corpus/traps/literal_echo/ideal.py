int("not a valid mode: plane")
