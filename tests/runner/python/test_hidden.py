"""What is loaded leaves no trace."""

import json
import os
import subprocess
import sys
import unittest

import minrepro_hidden
from minrepro_tracer.tracer import NOTHING

SCRIPT = """
import sys
before = list(sys.modules), list(sys.path)
sys.path.insert(0, {folder!r})
import minrepro_hidden
module = minrepro_hidden.load({module!r})
own = [name for name in sys.modules if name not in before[0]]
cache = [path for path in sys.path_importer_cache if path.startswith({folder!r})]
print(module.main.__name__, own, sys.path == before[1], cache, sys.dont_write_bytecode)
"""


class Hidden(unittest.TestCase):
    def test_loaded_packages_cannot_be_seen(self):
        for module in ("minrepro_tracer.run", "minrepro_zygote.serve"):
            script = SCRIPT.format(folder=minrepro_hidden.FOLDER, module=module)
            options = ["-I", "-c", script]
            output = subprocess.check_output([sys.executable] + options, universal_newlines=True)
            self.assertEqual(output, "main [] True [] False\n", module)

    def test_a_script_finds_only_itself(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        script = os.path.join(folder, "seen.py")
        tracer = os.path.join(minrepro_hidden.FOLDER, "minrepro_tracer", "__main__.py")
        traced = [sys.executable, "-B", tracer, os.devnull, "[]", "[]", json.dumps(NOTHING), "", "", script, "one"]
        plain = [sys.executable, "-B", script, "one"]
        outputs = [subprocess.check_output(each, universal_newlines=True) for each in (plain, traced)]
        self.assertEqual(*outputs)
