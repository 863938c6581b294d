"""``%%minrepro``: minimizes a failing cell. The cells before it belong to the script."""

import argparse
import html
import shlex
from typing import Any, List, Set

from ._api import Event, MinreproError, Result, minimize


def load(shell: Any) -> None:
    """Registers the magic."""
    history = _History(shell)
    shell.events.register("post_run_cell", history.note)
    shell.register_magic_function(_Magic(shell, history), "cell", "minrepro")


class _History:
    """Which cells failed: they are no part of the script."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._failed: Set[str] = set()

    def note(self, result: Any) -> None:
        """Takes the end of a cell into account."""
        if not result.success:
            self._failed.add(result.info.raw_cell)

    def cells(self) -> List[str]:
        """The cells before the running one that succeeded, in the order in which they ran."""
        # The last one is running.
        before = self._shell.history_manager.input_hist_raw[:-1]
        return [cell for cell in before if cell not in self._failed and not cell.startswith("%%")]


class _Magic:
    """The magic function."""

    def __init__(self, shell: Any, history: _History) -> None:
        self._shell = shell
        self._history = history

    def __call__(self, line: str, cell: str) -> Any:
        try:
            typed = _arguments().parse_args(shlex.split(line))
        except (_WrongOptions, ValueError) as error:
            raise self._usage(str(error)) from None
        cells = [] if typed.alone else self._history.cells()
        script = "\n".join(_without_commands(text) for text in [*cells, cell]) + "\n"
        import IPython.display

        display: Any = IPython.display.display
        shown = display({"text/plain": "running the cell"}, raw=True, display_id=True)
        progress = _Progress(shown)
        try:
            result = minimize(
                script,
                on_event=progress.note,
                signature=typed.signature,
                max_time=typed.max_time,
                loose=typed.loose,
                output=typed.output,
            )
        except MinreproError as error:
            progress.say(f"failed: {error.message}")
            raise self._usage(str(error)) from None
        progress.say(_summary(result))
        return result

    def _usage(self, message: str) -> Exception:
        from IPython.core.error import UsageError

        error: Exception = UsageError(message)
        return error


class _WrongOptions(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> "Any":
        raise _WrongOptions(f"{message}\n{self.format_usage()}")


def _arguments() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%minrepro", add_help=False)
    parser.add_argument("-s", "--signature", action="append", default=[])
    parser.add_argument("--max-time")
    parser.add_argument("-o", "--output")
    parser.add_argument("--loose", action="store_true")
    # Leave out the cells before this one.
    parser.add_argument("--alone", action="store_true")
    return parser


def _without_commands(cell: str) -> str:
    """A cell without the lines that only IPython understands."""
    lines = cell.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!", "?")))


class _Progress:
    """One line that changes."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown

    def note(self, event: Event) -> None:
        """Shows an event, if it changes the line."""
        if event.kind == "signature":
            self.say(f"the bug: {event['signature']}")
        elif event.kind == "improvement":
            self.say(f"{event['tokens']} tokens after {event['runs']} runs")
        elif event.kind == "phase" and event["phase"] in ("ablation", "confirmation"):
            self.say(f"{event['phase']} of the result")

    def say(self, text: str) -> None:
        """Shows a line."""
        both = {"text/plain": text, "text/html": f"<code>{html.escape(text)}</code>"}
        self._shown.update(both, raw=True)


def _summary(result: Result) -> str:
    before, after = result.report.before, result.report.after
    text = f"{before.tokens} -> {after.tokens} tokens, {result.report.runs} runs"
    return text if result.is_verified else f"{text}; {result.status}: {result.error or 'stopped'}"
