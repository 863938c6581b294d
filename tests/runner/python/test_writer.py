"""Values as expressions: what is written evaluates to an equal value, and what cannot be written is left out."""

import collections
import datetime
import enum
import functools
import re
import sys
import unittest

from minrepro_tracer.expressions import NODES, TEXT
from minrepro_tracer.source import Source
from minrepro_tracer.tracer import Tracer
from minrepro_tracer.writer import Writer


class Point:
    def __init__(self, x, y=0):
        self.x = x


class Color(enum.Enum):
    RED = 1


Pair = collections.namedtuple("Pair", "left right")


def double(number):
    return 2 * number


def writer(**names):
    tracer = Tracer("script.py", Source(b""))
    tracer.namespace = dict(
        Point=Point, Color=Color, Pair=Pair, double=double, collections=collections, datetime=datetime,
        functools=functools, re=re, **names
    )
    return Writer(tracer)


class Values(unittest.TestCase):
    def test_values_are_written_as_equal_expressions(self):
        values = [
            None, ..., True, 3, -1.5, 2j, "a\n'b", b"\x00", [1, [2.5]], (1,), (), {1, 2}, set(), frozenset({1}), {"a": (1, 2)},
            range(1, 9, 2), bytearray(b"a"), Color.RED, Pair(1, [2]), datetime.date(2020, 1, 2), datetime.timedelta(days=1),
            collections.Counter("aab"), collections.OrderedDict(a=1), collections.deque([1], 3), collections.defaultdict(int, a=1),
            re.compile("a+", re.I), double, len, int, collections,
        ]
        for value in values:
            text = writer().text(value)
            self.assertIsNotNone(text, value)
            self.assertEqual(eval(text, writer().namespace), value, text)

    def test_iterators_are_written_by_what_is_left_of_them_unless_they_run_code(self):
        left = iter([1, 2, 3])
        next(left)
        self.assertEqual(list(eval(writer().text(left), writer().namespace)), [2, 3])
        self.assertEqual(next(left), 2)

        class Endless:
            def __getitem__(self, index):
                return index

        self.assertIsNone(writer().text(iter(int, 1)))
        self.assertIsNone(writer().text(iter(Endless())))

    def test_numbers_without_a_literal_are_written_as_calls(self):
        self.assertEqual(writer().text(float("inf")), 'float("inf")')
        self.assertEqual(writer().text([float("-inf")]), '[float("-inf")]')

    def test_what_cannot_be_written_is_left_out_of_containers_but_not_of_tuples(self):
        frame = sys._getframe()
        self.assertEqual(writer().text([1, frame]), "[1]")
        self.assertIsNone(writer().text([frame]))
        self.assertIsNone(writer().text((1, frame)))

    def test_values_within_themselves_and_large_values_are_not_written(self):
        around = []
        around.append(around)
        self.assertIsNone(writer().text(around))
        self.assertIsNone(writer().text(list(range(NODES + 1))))
        self.assertIsNone(writer().text("x" * (TEXT + 1)))

    def test_objects_of_the_script_are_written_as_they_were_made(self):
        made = writer()
        point = Point([1], y=2)
        made.made[id(point)] = (point, [[1]], [("y", 2)])
        self.assertEqual(made.text(point), "Point([1], y=2)")
        self.assertTrue(made.is_rough)

    def test_partial_functions_and_bound_methods(self):
        self.assertEqual(writer().text(functools.partial(double, 4)), "functools.partial(double, 4)")
        self.assertEqual(writer().text([1].append), "[1].append")

    def test_a_path_into_the_folder_of_the_run_keeps_its_last_part(self):
        made = writer()
        made.tracer.temporary = "/tmp/run-1/tmp"
        self.assertEqual(made.text("/tmp/run-1/tmp/a/b"), "'b'")
        self.assertEqual(made.text("/tmp/run-1/tmp"), "'.'")
        self.assertEqual(made.text("/tmp/run-1"), "'/tmp/run-1'")
