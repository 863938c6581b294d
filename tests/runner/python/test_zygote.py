"""What a zygote does with environments, with what imports change, and with what they bring."""

import gc
import json
import os
import sys
import tempfile
import time
import types
import unittest

from minrepro_confine import Confinement, words
from minrepro_zygote.environment import changed, difference
from minrepro_zygote.followed import Followed
from minrepro_zygote.script_path import wide
from minrepro_zygote.shelf import Shelf
from minrepro_zygote.side_effects import Change, Effects


class Environments(unittest.TestCase):
    def test_a_difference_leads_from_one_environment_to_the_other(self):
        before, after = {"A": "1", "B": "2"}, {"A": "3", "C": "4"}
        change = difference(before, after)
        self.assertEqual(change, {"A": "3", "C": "4", "B": None})
        self.assertEqual(changed(before, change), after)


class SideEffects(unittest.TestCase):
    def setUp(self):
        self.module = types.ModuleType("changed_by_imports")
        self.module.value = "before"
        sys.modules[self.module.__name__] = self.module

    def tearDown(self):
        del sys.modules[self.module.__name__]

    def test_what_an_import_changes_is_undone_and_done_again(self):
        effects = Effects()
        self.module.value = "after"
        self.module.added = 1
        sys.path.append("/added")
        effects.collect("importer")
        changes = effects.undone()
        self.assertEqual((self.module.value, hasattr(self.module, "added")), ("before", False))
        self.assertNotIn("/added", sys.path)
        for change in changes["importer"]:
            change.redo()
        self.assertEqual((self.module.value, self.module.added, sys.path.pop()), ("after", 1, "/added"))

    def test_a_variable_that_was_not_there_is_removed(self):
        change = Change(self.module, "added", Change.MISSING, 1)
        change.redo()
        self.assertEqual(self.module.added, 1)
        change.undo()
        self.assertFalse(hasattr(self.module, "added"))


class Imports(unittest.TestCase):
    def test_the_imports_of_a_run_are_followed_to_the_empty_line(self):
        with tempfile.NamedTemporaryFile("w") as file:
            lines = [["a", {}], ["beside.b", {}], ["c", {"X": "1"}], ["d", {}]]
            file.write("".join(json.dumps(line) + "\n" for line in lines) + "torn\n\n" + json.dumps(["e", {}]))
            file.flush()
            environments = [{}]
            followed = Followed(file.name, ["beside"], {"Y": "2"}, environments, gc, json, time)
            self.assertEqual(list(followed), [("a", 0), ("c", 1), ("d", 0)])
            self.assertEqual(environments, [{}, {"Y": "2", "X": "1"}])

    def test_a_module_comes_with_all_that_it_imports(self):
        shelf = Shelf.__new__(Shelf)
        edges = {"a": ["b.c"], "b": ["d"], "b.c": ["a"]}
        shelf.record = types.SimpleNamespace(edges=edges)
        shelf.modules = dict.fromkeys(["a", "b", "b.c", "d"])
        self.assertEqual(shelf.closure("a"), ["d", "b", "b.c", "a"])
        self.assertEqual(shelf.closure("a", ["b", "d"]), ["b.c", "a"])


class Low(unittest.TestCase):
    def test_texts_and_numbers_in_the_layout_of_the_kernel_and_the_interpreter(self):
        self.assertEqual(len(wide("ab")), 12)
        self.assertEqual(int.from_bytes(words(7, 9)[8:], sys.byteorder), 9)

    def test_without_confinement_a_fork_is_a_fork(self):
        confinement = Confinement(False, False, {}, "/", "/", [], 0, False, [])
        child = confinement.fork()
        if child == 0:
            confinement.enter("/", [])
            confinement.begin("/")
            os._exit(3)
        self.assertEqual(os.waitpid(child, 0)[1] >> 8, 3)
