"""Reads names out of a table of C strings."""
import ctypes
import logging

logging.basicConfig(level=logging.ERROR)
log = logging.getLogger("names")


class Table:
    def __init__(self, names):
        self.buffers = [ctypes.create_string_buffer(name.encode()) for name in names]
        self.offsets = [ctypes.addressof(buffer) for buffer in self.buffers]

    def drop(self, index):
        self.offsets[index] = 0

    def read(self, index):
        address = self.offsets[index]
        log.info("reading %d at %#x", index, address)
        return ctypes.string_at(address).decode()


def main():
    table = Table(["ann", "bob", "cat"])
    print(table.read(0), table.read(1))
    table.drop(1)
    for index in range(3):
        print(table.read(index))


main()
