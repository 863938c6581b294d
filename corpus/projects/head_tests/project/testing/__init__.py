"""Common parts of our tests."""
from unittest import main as run_tests

from .case import TestCase
from .parameters import instantiate, parametrize, subtest
from .tensors import make_tensor

__all__ = ["TestCase", "instantiate", "make_tensor", "parametrize", "run_tests", "subtest"]
