"""`python minrepro_tracer/__main__.py OUT SOUGHT CRASH_STACK COVERED QUESTION LAST SCRIPT ARGS...`: see `run`."""

import sys

# Of which folder `sys.path[0]` is, if of any, is up to the interpreter's options.
sys.path.insert(0, __file__.rpartition("/")[0].rpartition("/")[0])

import minrepro_hidden

minrepro_hidden.load("minrepro_tracer.run").main()
