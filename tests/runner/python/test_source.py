"""What the tracer reads in a script's text."""

import ast
import sys
import unittest

from minrepro_tracer.source import Source, is_path, looked_up

TEXT = b"""\
import a
def f(x):
    y = [a.b(x[i], z=x.y) for i in range(3)]
    return a.c(y)
with a.open("n") as file:
    f(file.name)
"""


class Text(unittest.TestCase):
    def setUp(self):
        self.source = Source(TEXT)

    def test_the_statement_on_a_line_is_the_innermost(self):
        self.assertIsInstance(self.source.statement(3), ast.Assign)
        self.assertIsInstance(self.source.statement(5), ast.With)
        self.assertIsNone(self.source.statement(0))

    def test_reads_and_calls_of_a_line(self):
        self.assertEqual(set(self.source.reads(3)), {"a.b", "a", "x[i]", "x", "i", "x.y", "range"})
        self.assertEqual(self.source.calls(3), {"a.b(x[i], z=x.y)", "range(3)"})
        self.assertEqual(self.source.reads(5), ["a.open", "a"])

    def test_comprehensions_around_a_place(self):
        inside, within_iterable = (3, 9, 3, 25), (3, 35, 3, 43)
        self.assertEqual(len(self.source.comprehensions(inside)), 1)
        self.assertEqual(self.source.comprehensions(within_iterable), [])
        self.assertTrue(self.source.comprehends(3))
        self.assertFalse(self.source.comprehends(4))

    def test_functions_that_a_line_names(self):
        self.assertEqual([it.name for it in self.source.functions(6, called=True)], ["f"])
        self.assertEqual(self.source.functions(6, called=False), [])
        self.assertEqual(self.source.rest_of(3), [4])

    @unittest.skipUnless(hasattr(ast, "unparse"), "needs CPython 3.9")
    def test_statements_that_make_something(self):
        makers = {line: self.source.maker(line) for line in range(1, 9)}
        self.assertEqual([line for line in makers if makers[line]], [4, 5, 6])
        target, expression, paths = makers[5]
        self.assertEqual((target.id, ast.unparse(expression), list(paths)), ("file", "a.open('n')", ["a"]))
        self.assertIsNone(makers[4][0])
        self.assertIs(makers[6][0], ...)

    def test_paths_are_looked_up_without_running_anything(self):
        class Holder:
            @property
            def computed(self):
                raise AssertionError

        holder = Holder()
        holder.kept = 3
        frame = sys._getframe()
        path = lambda text: ast.parse(text, mode="eval").body
        self.assertEqual(looked_up(path("holder.kept"), frame), 3)
        self.assertEqual(looked_up(path("holder.computed"), frame, None), None)
        self.assertRaises(LookupError, looked_up, path("nothing"), frame)
        self.assertTrue(is_path(path("a.b[c.d].e")))
        self.assertFalse(is_path(path("a().b")))
