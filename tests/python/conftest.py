"""The tests of the Python package. They run the program that the environment has, or the one that
``MINREPRO_BINARY`` names; ``tests/README.md`` says how."""

import pytest

pytest_plugins = ["pytester"]

NOISY = '''\
import json
import sys


class Report:
    """The nightly report."""

    def __init__(self, owner):
        self.owner = owner
        self.tags = {owner}


def main():
    unused = [number for number in range(3)]
    report = Report("ada")
    print(len(unused), file=sys.stderr)
    return json.dumps({"owner": report.owner, "tags": report.tags})


main()
'''


@pytest.fixture(autouse=True)
def own_journal(tmp_path, monkeypatch):
    """Each test has a cache of its own: no verdict is recalled from another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def noisy(tmp_path):
    """A script with a bug and much that does not matter."""
    path = tmp_path / "noisy.py"
    path.write_text(NOISY)
    return path
