"""Every file of the packages: its grammar, its imports, its layout."""

import ast
import os
import unittest

import minrepro_hidden

# What an interpreter has imported before it runs anything.
AT_START = {"_frozen_importlib", "builtins", "os", "stat", "sys"}


def files():
    for folder, folders, names in os.walk(minrepro_hidden.FOLDER):
        folders[:] = [each for each in folders if each != "__pycache__"]
        for name in names:
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def parsed(path):
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read(), path, feature_version=(3, 8))


def imports(tree):
    """The import statements of a tree, those at its top level marked."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, node in tree.body


class Sources(unittest.TestCase):
    def test_every_file_compiles(self):
        found = list(files())
        self.assertGreater(len(found), 20)
        for path in found:
            with open(path, "rb") as file:
                compile(file.read(), path, "exec", dont_inherit=True)
            self.assertIsNotNone(ast.get_docstring(parsed(path)), path)

    def test_no_import_is_unused(self):
        for path in files():
            tree = parsed(path)
            loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            for node, _ in imports(tree):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self.assertIn(name, loaded, path)

    def test_no_module_that_a_script_could_find_is_imported_ahead_of_it(self):
        for path in files():
            for node, is_top in imports(parsed(path)):
                names = [alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom):
                    names = [node.module] if node.level == 0 else []
                for name in names if is_top else ():
                    self.assertTrue(name in AT_START or name.startswith("minrepro_"), (path, name))

    def test_no_module_imports_itself_by_way_of_others(self):
        edges = {}
        for path in files():
            name = os.path.basename(path)[: -len(".py")]
            package = os.path.basename(os.path.dirname(path))
            found = [node.module for node, _ in imports(parsed(path)) if isinstance(node, ast.ImportFrom) and node.level]
            edges[package + "." + name] = [package + "." + each for each in found]
        while edges:
            leaves = [name for name in edges if not set(edges[name]) & set(edges)]
            self.assertTrue(leaves, edges)
            for name in leaves:
                del edges[name]

    def test_lines_are_short(self):
        for path in files():
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    self.assertLessEqual(len(line.rstrip("\n")), 130, (path, number))
