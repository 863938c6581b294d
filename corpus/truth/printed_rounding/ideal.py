import struct

price = 19.99
back = struct.unpack("<f", struct.pack("<f", price))[0]
if back != price:
    print("MISMATCH", price, back)
