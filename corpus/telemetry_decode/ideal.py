import codecs

codecs.decode(b"\xe8v", "utf-8")
