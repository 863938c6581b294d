None.norm()
