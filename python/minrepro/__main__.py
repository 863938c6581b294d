"""``python -m minrepro`` is the program itself."""

import os
import sys

from ._binary import find_binary

if __name__ == "__main__":
    try:
        program = find_binary()
    except FileNotFoundError as error:
        sys.exit(f"error: {error}")
    os.execv(program, [program, *sys.argv[1:]])
