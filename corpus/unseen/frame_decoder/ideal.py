buffer = bytearray(1)
view = memoryview(buffer)
del buffer[:]
