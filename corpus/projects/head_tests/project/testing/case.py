"""A test case that compares tensors, and leaves the state of torch as it was."""
import unittest
import warnings

import torch


class TestCase(unittest.TestCase):
    precision = 1e-5
    longMessage = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._grad = torch.is_grad_enabled()

    @classmethod
    def tearDownClass(cls):
        torch.set_grad_enabled(cls._grad)
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self._dtype = torch.get_default_dtype()
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("error", FutureWarning)

    def tearDown(self):
        self._warnings.__exit__(None, None, None)
        torch.set_default_dtype(self._dtype)
        super().tearDown()

    def assertEqual(self, first, second, msg=None, *, exact=False):
        if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
            tolerance = 0 if exact else self.precision
            torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance, msg=msg)
        else:
            super().assertEqual(first, second, msg)
