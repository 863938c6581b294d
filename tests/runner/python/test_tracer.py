"""What a tracer notes of a script that runs in a process of its own, and which code is the tracer's."""

import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

import minrepro_hidden
from minrepro_tracer import compiler, run
from minrepro_tracer import tracer as tracer_module

SCRIPT = """\
class Point:
    def __init__(self, x, *, y=0):
        self.x = x
def scale(point, factor):
    return point.x[factor]
def base():
    return 40
for factor in range(3):
    scale(Point([base()], y=factor), factor)
"""


def traced(text, sought="[]", doomed="[]"):
    """The evidence, and how the process ended."""
    with tempfile.TemporaryDirectory() as folder:
        script, out = os.path.join(folder, "script.py"), os.path.join(folder, "out.json")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        tracer = os.path.join(minrepro_hidden.FOLDER, "minrepro_tracer", "__main__.py")
        command = [sys.executable, "-B", tracer, out, sought, doomed, json.dumps(tracer_module.NOTHING), "", "", script]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        with open(out, encoding="utf-8") as file:
            return json.load(file), ended


class Traced(unittest.TestCase):
    def test_lines_values_and_the_failure(self):
        evidence, ended = traced(SCRIPT)
        self.assertEqual(ended.returncode, 1)
        self.assertNotIn("minrepro", ended.stderr)
        self.assertIn("IndexError", ended.stderr)
        # Lines are pairs: the file's place in the list of files, the number.
        of_line = lambda noted: {tuple(line): what for line, what in evidence[noted]}
        self.assertEqual(of_line("hits")[(0, 9)], 2)
        self.assertEqual(of_line("returned")[(0, 6)], {"expression": "40", "exact": True})
        outer, inner = evidence["failure"]
        self.assertEqual((outer["function"], inner["function"]), ("<module>", "scale"))
        self.assertEqual(inner["values"]["point"]["expression"], "Point([40], y=1)")

    def test_a_text_that_is_sought_counts_as_the_failure_where_it_is_printed(self):
        evidence, ended = traced("def tell():\n    print('total: 7')\ntell()\n", sought='["total: 7"]')
        self.assertEqual((ended.returncode, ended.stdout), (0, "total: 7\n"))
        self.assertEqual([frame["function"] for frame in evidence["failure"]], ["<module>", "tell"])

    def test_an_exception_without_a_message_disturbs_no_print(self):
        script = (
            "class Mute(Exception):\n"
            "    def __str__(self):\n"
            "        return 7\n"
            "try:\n"
            "    raise Mute\n"
            "except Mute as error:\n"
            "    str(error)\n"
        )
        evidence, ended = traced(script, sought='["returned non-string (type int)"]')
        self.assertTrue(ended.stderr.endswith("\nTypeError: __str__ returned non-string (type int)\n"), ended.stderr)
        self.assertEqual([frame["line"] for frame in evidence["failure"]], [[0, 7]])

    def test_the_exit_status_is_kept(self):
        evidence, ended = traced("import sys\nsys.exit(7)\n")
        self.assertEqual((ended.returncode, evidence["failure"]), (7, []))


class OwnCode(unittest.TestCase):
    def test_the_code_of_every_function_of_the_tracer_is_found(self):
        names = {module.__name__ for module in compiler.OWN_MODULES}
        self.assertLessEqual({"minrepro_tracer.run", "minrepro_tracer.tracer", "minrepro_tracer.writer"}, names)
        own = {id(code) for module in compiler.OWN_MODULES for code in compiler.codes_of(module)}
        self.assertIn(id(run.main.__code__), own)
        found = {(code.co_filename, code.co_firstlineno) for code in self.codes(own)}
        for module in compiler.OWN_MODULES:
            with open(module.__file__, "rb") as file:
                code = compile(file.read(), module.__file__, "exec", dont_inherit=True)
            missing = {(module.__file__, each.co_firstlineno) for each in functions_in(code)} - found
            self.assertEqual(missing, set())

    def codes(self, own):
        import gc

        for each in gc.get_objects():
            if isinstance(each, types.FunctionType) and id(each.__code__) in own:
                yield from compiler.with_inner(each.__code__)


def functions_in(code):
    """The code of all functions in a module's code; bodies of classes are none."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            # A function, which has optimized locals; not a comprehension of the module itself.
            if inner.co_flags & 1 and not inner.co_name.startswith("<"):
                yield inner
            yield from functions_in(inner)
