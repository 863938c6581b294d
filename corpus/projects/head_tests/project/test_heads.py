"""Tests of the layers in `heads`.

    python test_heads.py
    python test_heads.py TestHeads.test_attention_True_four_heads
"""
import unittest

import torch

import heads
from heads import Attention, HeadConfig, merge_heads, split_heads
from heads.masks import causal, padding
from testing import TestCase, instantiate, make_tensor, parametrize, run_tests, subtest


def setUpModule():
    torch.manual_seed(0)
    torch.set_num_threads(1)


class TestHeads(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.configs = {
            "one": HeadConfig(width=8, heads=1),
            "four": HeadConfig(width=8, heads=4),
            "shared": HeadConfig(width=8, heads=4, shared=2),
        }

    def setUp(self):
        super().setUp()
        self.batch, self.length = 2, 5
        self.x = make_tensor((self.batch, self.length, 8), low=-1, high=1)
        self.addCleanup(heads.registry.clear)

    def tearDown(self):
        del self.x
        super().tearDown()

    def check_shape(self, result, config):
        self.assertEqual(tuple(result.shape), (self.batch, self.length, config.width))

    @parametrize("name", ["one", subtest("four", name="four_heads")])
    def test_split(self, name):
        config = self.configs[name]
        parts = split_heads(self.x, config.heads)
        self.assertEqual(parts.shape, (self.batch, config.heads, self.length, config.head_width))

    @parametrize("name", ["one", subtest("four", name="four_heads")])
    def test_merge(self, name):
        config = self.configs[name]
        for contiguous in (True, False):
            with self.subTest(contiguous=contiguous):
                x = self.x if contiguous else self.x.flip(1)
                parts = split_heads(x, config.heads)
                merged = merge_heads(parts)
                self.check_shape(merged, config)
                self.assertEqual(merged, x)

    @parametrize("name", ["one", subtest("four", name="four_heads")])
    @parametrize("masked", [False, True])
    def test_attention(self, name, masked):
        config = self.configs[name]
        layer = Attention(config).eval()
        with torch.no_grad():
            result = layer(self.x, causal(self.length) if masked else None)
        self.check_shape(result, config)

    def test_padding(self):
        mask = padding(torch.tensor([2, 5]), self.length)
        self.assertEqual(mask.sum(-1), torch.tensor([2, 5]))

    @unittest.skipUnless(torch.cuda.is_available(), "needs a GPU")
    def test_on_gpu(self):
        layer = Attention(self.configs["one"]).cuda()
        self.check_shape(layer(self.x.cuda()), self.configs["one"])


instantiate(TestHeads)

if __name__ == "__main__":
    run_tests()
