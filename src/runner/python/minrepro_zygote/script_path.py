"""Where the interpreter keeps the path of its main script, which a child replaces by its own."""

import os
import sys


def places_of(path, ctypes):
    """Where the interpreter's configuration keeps the path of its script: addresses of wide characters.

    The structure is read as words; one that leads to the path, or to a list that begins with it, is what is sought.
    """
    api = ctypes.pythonapi
    get = getattr(api, "_Py_GetConfig", None) or getattr(api, "_PyInterpreterState_Get", None)
    if get is None:
        return []
    get.restype = ctypes.c_void_p
    get.argtypes = []
    wanted = wide(path)
    memory = os.open("/proc/self/mem", os.O_RDONLY)

    def read(address, size):
        try:
            return os.pread(memory, size, address)
        except (OSError, OverflowError):
            return b""

    def words(data):
        return [int.from_bytes(data[at : at + 8], sys.byteorder) for at in range(0, len(data), 8)]

    found = {}
    for word in words(read(get(), 8192)):
        for address in [word] + words(read(word, 8)):
            if read(address, len(wanted)) == wanted:
                found[address] = None
    os.close(memory)
    return list(found)


def wide(text):
    encoding = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    return (text + "\0").encode(encoding, "surrogateescape")
