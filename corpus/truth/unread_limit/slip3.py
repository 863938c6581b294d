raise RuntimeError("the field was written")
