"""Runs the tests beside this file: `python -B tests/runner/python`."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
# Not by PYTHONPATH: an interpreter that starts with the packages on its path becomes a zygote.
sys.path.insert(0, os.path.join(HERE, *[os.pardir] * 3, "src", "runner", "python"))
sys.path[0] = os.path.normpath(sys.path[0])

ended = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover(HERE))
sys.exit(0 if ended.wasSuccessful() and ended.testsRun > 20 else 1)
