"""``pytest --minrepro``: minimizes each failing test after the session.

Workers of pytest-xdist only report; the reductions run one after the other where the summary is printed.
"""

import re
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

import pytest

OPTION = "--minrepro"


def pytest_addoption(parser: Any) -> None:
    """Adds the options."""
    group = parser.getgroup("minrepro", "minimizing failing tests")
    group.addoption(
        OPTION,
        nargs="?",
        const="",
        default=None,
        metavar="NODE",
        help="minimize each failing test; with =NODE, only this test, or those of this file",
    )
    group.addoption(
        "--minrepro-max-time",
        default="10m",
        metavar="TIME",
        help="stop the reduction of a test after this time: 90, 10m, 1h30m (default: %(default)s)",
    )
    group.addoption(
        "--minrepro-flaky",
        action="store_true",
        help="also minimize failing tests that are marked as flaky",
    )
    group.addoption(
        "--minrepro-dir",
        default=".minrepro",
        metavar="DIR",
        help="folder for scripts and reports (default: %(default)s)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: List[str]) -> None:
    """Keeps ``--minrepro tests/`` from taking the folder for its value: that needs a ``=``."""
    args[:] = [f"{OPTION}=" if word == OPTION else word for word in args]


def pytest_configure(config: Any) -> None:
    """Watches the session, if that was asked for; not in a worker."""
    if config.getoption(OPTION) is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Plugin(config), "minrepro-reductions")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any) -> Any:
    """Notes whether a test is marked as flaky: the report is all that comes out of a worker."""
    outcome = yield
    outcome.get_result().minrepro_flaky = item.get_closest_marker("flaky") is not None


class _Reduced(NamedTuple):
    """What came of a failing test."""

    node: str
    #: One line for the summary.
    line: str


class _Plugin:
    """Collects failing tests, and minimizes them at the end."""

    def __init__(self, config: Any) -> None:
        self._config = config
        self._only: str = config.getoption(OPTION)
        self._failing: Dict[str, bool] = {}
        self._reduced: List[_Reduced] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Takes a failing test into account."""
        if report.failed and report.when in ("setup", "call") and self._is_wanted(report.nodeid):
            self._failing[report.nodeid] = report.minrepro_flaky

    def _is_wanted(self, node: str) -> bool:
        only = self._only
        return not only or node == only or node.startswith((f"{only}::", f"{only}[", f"{only}/"))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Minimizes, once nothing else runs."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        for node, is_flaky in self._failing.items():
            if is_flaky and not self._config.getoption("--minrepro-flaky"):
                self._reduced.append(
                    _Reduced(node, "left alone, since it is marked as flaky: --minrepro-flaky")
                )
                continue
            if terminal is not None:
                terminal.ensure_newline()
                terminal.write_line(f"minrepro: minimizing {node}")
            self._reduced.append(_Reduced(node, self._minimized(node)))

    def _minimized(self, node: str) -> str:
        from ._api import MinreproError, minimize

        root = Path(self._config.rootpath)
        folder = root / self._config.getoption("--minrepro-dir")
        _make(folder)
        output = folder / f"{_slug(node)}.py"
        report = output.with_suffix(".md")
        try:
            result = minimize(
                node,
                # Nodes begin in the root's folder, wherever the user stands.
                cwd=root,
                python=sys.executable,
                output=output,
                max_time=self._config.getoption("--minrepro-max-time"),
            )
        except MinreproError as error:
            return f"not minimized: {error.message}" + (f" ({error.hint})" if error.hint else "")
        report.write_text(result.markdown, encoding="utf-8")
        before, after = result.report.before.tokens, result.report.after.tokens
        doubt = "" if result.is_verified else f", {result.status}"
        return f"{_shown(output)} ({before} -> {after} tokens{doubt}; {_shown(report)})"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Prints where the results are."""
        if self._reduced:
            terminalreporter.section("minrepro")
        for node, line in self._reduced:
            terminalreporter.write_line(f"{node}: {line}")


def _make(folder: Path) -> None:
    """Makes the folder, which keeps itself out of version control."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")


def _slug(node: str) -> str:
    """A file's name for a node."""
    return re.sub(r"[^A-Za-z0-9]+", "_", node).strip("_")


def _shown(path: Path, start: Optional[Path] = None) -> str:
    start = start or Path.cwd()
    return str(path.relative_to(start)) if start in path.parents else str(path)
