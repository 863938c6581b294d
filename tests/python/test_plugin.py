"""``pytest --minrepro``, by the real pytest."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

TESTS = """\
import json

import pytest


def rows(count):
    return [number for number in range(count)]


def test_passes():
    assert rows(2) == [0, 1]


def test_fails():
    found = {"rows": rows(3), "tags": {"new"}}
    print(len(found))
    json.dumps(found)


@pytest.mark.flaky
def test_flaky():
    json.dumps({1})
"""


@pytest.fixture
def session(pytester):
    """Runs pytest in a folder with failing tests."""
    pytester.makepyfile(test_it=TESTS)
    pytester.makeini("[pytest]\nmarkers = flaky: fails now and then\n")
    # The wheel registers the plugin; a checkout does not.
    found = entry_points(group="pytest11", name="minrepro")
    plugin = [] if found else ["-p", "minrepro._pytest"]
    return lambda *args: pytester.runpytest_subprocess(*plugin, *args)


def results(pytester):
    return sorted(path.name for path in pytester.path.glob(".minrepro/*.py"))


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_failing_tests_are_minimized(pytester, session, workers):
    ended = session("--minrepro", *workers)
    assert ended.ret == 1
    ended.stdout.fnmatch_lines(
        ["*minrepro*", "test_it.py::test_fails: .minrepro/test_it_py_test_fails.py*"]
    )
    ended.stdout.fnmatch_lines(["test_it.py::test_flaky: left alone*"])
    assert results(pytester) == ["test_it_py_test_fails.py"]
    small = pytester.path / ".minrepro" / "test_it_py_test_fails.py"
    assert "json.dumps" in small.read_text() and "rows(3)" not in small.read_text()
    # It stands alone.
    done = subprocess.run([sys.executable, small], stderr=subprocess.PIPE, text=True)
    assert "TypeError: Object of type set is not JSON serializable" in done.stderr
    assert "Minimized repro" in small.with_suffix(".md").read_text()


def test_one_node_and_flaky_tests_where_asked(pytester, session):
    session("--minrepro=test_it.py::test_flaky", "--minrepro-flaky", "--minrepro-max-time", "60")
    assert results(pytester) == ["test_it_py_test_flaky.py"]


def test_a_folder_behind_the_option_is_no_node(pytester, session):
    ended = session("--minrepro", "test_it.py::test_passes")
    ended.assert_outcomes(passed=1)
    assert results(pytester) == []


def test_nothing_happens_without_the_option(pytester, session):
    ended = session()
    ended.assert_outcomes(passed=1, failed=2)
    assert not (pytester.path / ".minrepro").exists()
