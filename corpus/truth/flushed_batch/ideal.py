import unittest
from unittest import mock


class Sink:
    def write(self, lines):
        pass


class Writer:
    def __init__(self, sink):
        self.sink = sink
        self.lines = []

    def flush(self):
        self.sink.write(self.lines)
        self.lines.clear()


class WriterTest(unittest.TestCase):
    def setUp(self):
        self.sink = mock.create_autospec(Sink, instance=True)
        self.writer = Writer(self.sink)

    def counts(self):
        return [len(call.args[0]) for call in self.sink.write.call_args_list]

    def test_all_lines_are_written(self):
        for line in ["one", "two", "three"]:
            self.writer.lines.append(line)
            if len(self.writer.lines) == 2:
                self.writer.flush()
        self.writer.flush()
        self.assertEqual(sum(self.counts()), 3)


unittest.main()
