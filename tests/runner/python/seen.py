"""Prints what a script could see of the tracer."""

import sys

print(sys.argv[1:], sys.path, __name__, sys.modules["__main__"].__dict__ is globals())
print([name for name in sys.modules if "minrepro" in name])
print([path for path in sys.path_importer_cache if "minrepro" in path])
try:
    1 / 0
except ZeroDivisionError as error:
    print(error.__traceback__.tb_frame.f_code.co_filename, error.__traceback__.tb_next)
