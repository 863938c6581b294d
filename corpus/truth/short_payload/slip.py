import io
import struct

HEADER = struct.Struct(">BH")
stream = io.BytesIO(struct.pack("<ff", 0, 0.5))
HEADER.unpack(stream.read())
