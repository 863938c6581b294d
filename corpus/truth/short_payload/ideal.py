import struct

payload = struct.pack("<ff", 22.0, 3.25)[:-3]
struct.unpack("<ff", payload)
