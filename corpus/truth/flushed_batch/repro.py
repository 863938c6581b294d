"""Tests that a writer sends all of its lines."""
import unittest
from unittest import mock


class Sink:
    def write(self, lines):
        raise NotImplementedError


class Writer:
    def __init__(self, sink, most):
        self.sink = sink
        self.most = most
        self.lines = []

    def add(self, line):
        self.lines.append(line)
        if len(self.lines) == self.most:
            self.flush()

    def flush(self):
        if self.lines:
            self.sink.write(self.lines)
            self.lines.clear()


class WriterTest(unittest.TestCase):
    def setUp(self):
        self.sink = mock.create_autospec(Sink, instance=True)
        self.writer = Writer(self.sink, 2)

    def counts(self):
        return [len(call.args[0]) for call in self.sink.write.call_args_list]

    def test_all_lines_are_written(self):
        for line in ["one", "two", "three"]:
            self.writer.add(line)
        self.writer.flush()
        self.assertEqual(sum(self.counts()), 3)


unittest.main()
