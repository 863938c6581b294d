//! Tests of pytest's as what is given: with fixtures, parameters and a project around them.

use super::{Place, situations::shows};
use crate::support::{skip, snapshot, with_package};

/// A project with two modules, and tests with fixtures of all kinds.
fn project(place: &Place) {
    place.file("pyproject.toml", SETTINGS);
    place.file(
        "src/rules/__init__.py",
        "from .engine import Engine, RuleError\n",
    );
    place.file("src/rules/engine.py", ENGINE);
    place.file("tests/conftest.py", CONFTEST);
    let helpers = "def order(tier, count):\n    return {'tier': tier, 'count': count}\n";
    place.file("tests/helpers.py", helpers);
    place.file("tests/test_rules.py", TESTS);
}

const SETTINGS: &str = "\
[tool.pytest.ini_options]
pythonpath = ['src']
addopts = '--strict-markers'
markers = ['slow']
";

const ENGINE: &str = "\
class RuleError(ValueError):
    pass


class Engine:
    def __init__(self, store, limit):
        self.store, self.limit = store, limit

    def apply(self, order):
        if order['tier'] not in self.store:
            raise RuleError(order['tier'])
        return self.store[order['tier']] * order['count']

    def describe(self, order):
        return '%d items at %(tier)s' % order
";

const CONFTEST: &str = "\
import pytest

from rules import Engine


def order(values):
    return dict(values)


@pytest.fixture(scope='session')
def store():
    data = order([('gold', 0.8), ('bulk', 0.5)])
    yield data
    data.clear()


@pytest.fixture(params=[1, 3], ids=['one', 'three'])
def engine(store, request):
    return Engine(store, request.param)


@pytest.fixture(autouse=True)
def isolated(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('RULES', 'on')
";

const TESTS: &str = "\
import os
import pytest

from helpers import order
from rules import RuleError

CASES = [pytest.param('gold', 2, id='gold'), pytest.param('bulk', 20, id='bulk')]


@pytest.mark.slow
def test_unknown(engine):
    with pytest.raises(RuleError):
        engine.apply(order('tin', 1))


def test_raises(engine):
    with pytest.raises(KeyError):
        engine.apply(order('gold', 1))


@pytest.mark.skip(reason='not today')
def test_skipped(engine):
    assert 0


class TestRules:
    def setup_method(self, method):
        self.seen = [method.__name__]

    @pytest.fixture
    def label(self, engine):
        return f'limit {engine.limit}'

    @pytest.mark.parametrize('tier, count', CASES)
    def test_gold(self, engine, label, tier, count, capsys):
        assert os.environ['RULES'] == 'on' and self.seen == ['test_gold']
        print(label)
        assert capsys.readouterr().out == f'limit {engine.limit}\\n'
        wanted = order(tier, count)
        assert engine.apply(wanted) == pytest.approx(engine.store[tier] * count)
        assert engine.describe(wanted).endswith(tier)

    def test_config(self, pytestconfig):
        assert pytestconfig.getini('markers') == []

    @pytest.mark.parametrize('count', [1, 2])
    def test_sum(self, engine, count):
        total = sum(engine.apply(order(tier, count)) for tier in ('gold', 'bulk'))
        assert total == 1.3
";

/// A place with the project and an interpreter with pytest.
fn place(test: &str) -> Option<(Place, String)> {
    let Some(python) = with_package("pytest") else {
        skip(test, "there is no `pytest-VERSION` in minrepro's cache");
        return None;
    };
    let place = Place::new();
    project(&place);
    Some((place, python.display().to_string()))
}

#[test]
fn a_test_is_reduced_as_a_plain_script_and_its_project_stays_as_it_is() {
    let Some((place, python)) = place("pytest nodes") else {
        return;
    };
    let before = snapshot(&place.work());
    let node = "tests/test_rules.py::TestRules::test_gold[three-bulk]";
    let shown = shows(
        &place,
        &[node, "-p", &python],
        0,
        &[
            "fails in its call: TypeError: %d format: a real number is required, not dict",
            "the test is run as a plain script",
            "confirmed by 3 fresh runs",
        ],
    );
    let result = place.read("gold.min.py");
    assert!(
        !result.contains("pytest") && !result.contains("capsys") && !result.contains("monkeypatch"),
        "{result}\n{shown}"
    );
    std::fs::remove_file(place.work().join("gold.min.py")).unwrap();
    assert_eq!(snapshot(&place.work()), before);
    assert!(place.scratch_is_empty());
}

#[test]
fn assertions_that_pytest_writes_out_are_known_by_their_statement() {
    let Some((place, python)) = place("pytest nodes") else {
        return;
    };
    let node = "tests/test_rules.py::TestRules::test_sum[one-2]";
    shows(
        &place,
        &["check", node, "-n", "1", "-p", &python],
        0,
        &[
            "fails in its call: AssertionError: assert 2.6 == 1.3",
            "the test is run as a plain script",
            "signature: AssertionError",
        ],
    );
}

#[test]
fn a_test_that_needs_pytest_stays_one() {
    let Some((place, python)) = place("pytest nodes") else {
        return;
    };
    let node = "tests/test_rules.py::TestRules::test_config";
    shows(
        &place,
        &[
            node,
            "-p",
            &python,
            "--passes",
            "drop-definitions",
            "--no-ablation",
        ],
        0,
        &[
            "the test stays a test that pytest runs, since it uses pytest's fixture `pytestconfig`",
            "confirmed by 3 fresh runs",
        ],
    );
    let result = place.read("config.min.py");
    assert!(
        result.contains("def test_config(") && !result.contains("test_sum"),
        "{result}"
    );
}

#[test]
fn nodes_that_are_no_failing_test() {
    let Some((place, python)) = place("pytest nodes") else {
        return;
    };
    place.file(
        "tests/test_broken.py",
        "import rules.nothing\n\ndef test_a():\n    pass\n",
    );
    let before = snapshot(&place.work());
    let file = "tests/test_rules.py";
    for (node, status, fragments) in [
        (
            "::TestRules::test_gild[one-bulk]",
            2,
            [
                "not found: ",
                "hint: the file has `tests/test_rules.py::TestRules::test_gold[one-bulk]`",
            ],
        ),
        (
            "::TestRules::test_gold",
            2,
            ["stands for 4 tests", "test_gold[three-gold]"],
        ),
        (
            "::test_unknown[one]",
            1,
            ["test_unknown[one]` passes", "1 passed"],
        ),
        (
            "::test_skipped[one]",
            1,
            ["is not run to its end: ", "not today"],
        ),
    ] {
        let node = format!("{file}{node}");
        shows(&place, &["check", &node, "-p", &python], status, &fragments);
    }
    shows(
        &place,
        &["check", "tests/test_raises.py::test_a", "-p", &python],
        2,
        &["tests/test_raises.py", "not found"],
    );
    shows(
        &place,
        &[
            "check",
            "tests/test_broken.py::test_a",
            "-n",
            "1",
            "-p",
            &python,
        ],
        0,
        &[
            "cannot be imported",
            "ModuleNotFoundError: No module named 'rules.nothing'",
        ],
    );
    assert_eq!(snapshot(&place.work()), before);
}
