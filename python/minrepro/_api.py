"""Runs the program ``minrepro`` and reads its events. Judges nothing itself."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import (
    IO,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from ._binary import find_binary
from ._report import Report, Truth, decode

#: The version of the events that this package reads.
EVENTS_VERSION = 1

Source = Union[str, "os.PathLike[str]"]
Texts = Union[str, Sequence[str]]
Duration = Union[int, float, str]


class MinreproError(Exception):
    """minrepro ended without a result.

    ``name`` is the name of the exit status, such as ``not-reproduced`` or ``environment``.
    """

    def __init__(
        self,
        message: str,
        *,
        name: str,
        code: int,
        causes: Sequence[str] = (),
        details: Sequence[str] = (),
        hint: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.code = code
        self.causes = list(causes)
        self.details = list(details)
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message]
        lines.extend(f"  cause: {cause}" for cause in self.causes)
        lines.extend(self.details)
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Event:
    """Something that happened, with its fields as the JSON Schema of events has them."""

    kind: str
    fields: Mapping[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or a default if this event does not have it."""
        return self.fields.get(name, default)


@dataclass(frozen=True)
class Result:
    """A reduction whose result exists, however it ended."""

    #: The smallest program found.
    text: str
    #: The report.
    report: Report
    #: The name of the exit status: ``reduced``, ``stopped``, ``unverified``, ``unstable``, ``interrupted``.
    status: str
    #: What minrepro said was wrong, if it did not end well.
    error: Optional[MinreproError] = field(default=None, repr=False)
    #: The report as it came.
    raw_report: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: The report as Markdown.
    markdown: str = field(default="", repr=False)

    @property
    def is_verified(self) -> bool:
        """Whether it is finished, confirmed, and shows the bug for the same reason as the script."""
        return self.status == "reduced"

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.markdown


@dataclass(frozen=True)
class BaselineRun:
    """One run of the script as given."""

    number: int
    seconds: float
    summary: str


@dataclass(frozen=True)
class Check:
    """What runs of a script showed."""

    #: The signature of the bug.
    signature: str
    #: The same as arguments of ``signature=``.
    arguments: List[str]
    #: How many runs showed the bug.
    same: int
    #: How many runs there were.
    of: int
    runs: List[BaselineRun]

    @property
    def is_steady(self) -> bool:
        """Whether every run showed the bug."""
        return self.same == self.of


@dataclass(frozen=True)
class Judgement:
    """Whether a program shows the bug of a script."""

    #: Whether it shows the bug, and everything that was looked at holds.
    verified: bool
    #: The failure that it shows instead, if it does not show the bug.
    instead: Optional[str]
    #: What was found of all that makes it the same bug.
    truth: Truth
    #: How the mechanism of its failure differs, if it does.
    mismatch: Optional[str]


class Reduction:
    """A reduction that runs. Iterate over its events, then ask for its result.

    >>> reduction = start("script.py")
    >>> for event in reduction:
    ...     if event.kind == "improvement":
    ...         print(event["tokens"])
    >>> reduction.result().text
    """

    def __init__(
        self,
        place: "_Place",
        arguments: Sequence[str],
        markdown: Path,
        cwd: Optional[Source] = None,
    ) -> None:
        self._place = place
        self._markdown = markdown
        self._process = _Process(arguments, cwd)
        self._result: Optional[Result] = None

    def __iter__(self) -> Iterator[Event]:
        return iter(self._process)

    @property
    def pid(self) -> int:
        """The id of the program's process."""
        return self._process.pid

    def cancel(self) -> None:
        """Asks for the end. The best program so far is the result; its status is ``interrupted``."""
        self._process.interrupt()

    def result(self) -> Result:
        """Waits for the end. Events that nobody has asked for are skipped.

        Raises ``MinreproError`` if the script does not show the bug, or cannot be run.
        """
        if self._result is None:
            self._process.wait()
            try:
                self._result = self._read()
            finally:
                self._place.remove()
        return self._result

    def _read(self) -> Result:
        process = self._process
        error = process.error()
        if process.report is None:
            raise error or process.crash()
        raw = {name: value for name, value in process.report.items() if name != "event"}
        report = decode(Report, raw)
        markdown = self._markdown.read_text("utf-8") if self._markdown.is_file() else ""
        return Result(report.text_after, report, process.status(), error, raw, markdown)

    def __enter__(self) -> "Reduction":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._place.remove()


def start(
    script: Source,
    *,
    signature: Texts = (),
    python: Optional[Source] = None,
    test: Optional[str] = None,
    control: Optional[str] = None,
    good: Optional[Source] = None,
    keep: Texts = (),
    passes: Texts = (),
    env: Optional[Mapping[str, str]] = None,
    args: Sequence[str] = (),
    output: Optional[Source] = None,
    cwd: Optional[Source] = None,
    timeout: Optional[Duration] = None,
    max_time: Optional[Duration] = None,
    max_runs: Optional[int] = None,
    memory: Union[int, str, None] = None,
    jobs: Optional[int] = None,
    runner: str = "auto",
    sandbox: str = "auto",
    loose: bool = False,
    ablation: bool = True,
    journal: bool = True,
) -> Reduction:
    """Starts a reduction. ``minimize`` explains the arguments."""
    place = _Place(script)
    try:
        markdown = place.folder / "report.md"
        result = Path(output).absolute() if output is not None else place.folder / "result.py"
        arguments = [place.script, "--output", str(result), "--report", str(markdown)]
        arguments += _running(
            signature=signature,
            python=python,
            test=test,
            control=control,
            good=good,
            env=env,
            timeout=timeout,
            memory=memory,
            jobs=jobs,
            runner=runner,
            sandbox=sandbox,
            loose=loose,
        )
        arguments += _options("--keep", keep)
        if passes:
            arguments += ["--passes", ",".join(_texts(passes))]
        for name, limit in (("--max-time", _duration(max_time)), ("--max-runs", max_runs)):
            if limit is not None:
                arguments += [name, str(limit)]
        if not ablation:
            arguments.append("--no-ablation")
        if not journal:
            arguments.append("--no-journal")
        typed = [*arguments, "--format", "jsonl", "--", *args]
        return Reduction(place, typed, markdown, cwd)
    except BaseException:
        place.remove()
        raise


def minimize(
    script: Source,
    *,
    on_event: Optional[Callable[[Event], None]] = None,
    **options: Any,
) -> Result:
    """Minimizes a script that shows a bug.

    ``script`` is the text of a script if it has several lines, otherwise a path or a pytest node. The
    script is never changed, and nothing is written to its folder unless ``output`` says so.

    The options are those of the command line, and of ``start``:

    - ``signature``: what the bug looks like, ``"RuntimeError: expected scalar"``; without it, the
      script's own failure.
    - ``python``: the interpreter; without it, the one that runs this.
    - ``test``: a command that exits with 0 while its last argument is interesting.
    - ``control``, ``good``: where the bug must not show.
    - ``keep``: names, line numbers or ``/regular expressions/`` that stay.
    - ``env``, ``args``: variables and arguments of each run.
    - ``output``: a file for the result, which is written at every improvement.
    - ``cwd``: the folder in which paths and nodes begin.
    - ``timeout``, ``max_time`` in seconds or as ``"1h30m"``; ``max_runs``; ``memory`` such as ``"4G"``.
    - ``passes``, ``jobs``, ``runner``, ``sandbox``, ``loose``, ``ablation``, ``journal``.

    ``on_event`` is called for each event. An exception that it raises, ``KeyboardInterrupt`` included,
    stops the reduction.

    Raises ``MinreproError`` if the script does not show the bug, or cannot be run. A result that could
    not be verified is returned: its ``status`` says so.
    """
    with start(script, **options) as reduction:
        for event in reduction:
            if on_event is not None:
                on_event(event)
        return reduction.result()


def check(script: Source, *, runs: int = 5, **options: Any) -> Check:
    """Runs a script several times and finds the signature of its bug, and how often it shows.

    The options are those of ``minimize`` that say how a script is run and judged. Raises
    ``MinreproError`` if the bug does not show.
    """
    found: List[BaselineRun] = []
    checked: Optional[Event] = None
    with _Checking(script, ["--runs", str(runs)], options) as process:
        for event in process:
            if event.kind == "baseline-run":
                found.append(BaselineRun(event["number"], event["seconds"], event["summary"]))
            elif event.kind == "checked":
                checked = event
        if checked is None:
            raise process.error() or process.crash()
    return Check(checked["signature"], checked["arguments"], checked["same"], checked["of"], found)


def judge(script: Source, candidate: Source, **options: Any) -> Judgement:
    """Judges whether a program shows the bug of a script, as a reduction judges its result.

    The options are those of ``minimize`` that say how a script is run and judged.
    """
    other = _Place(candidate)
    try:
        with _Checking(script, ["--candidate", other.script], options) as process:
            for event in process:
                if event.kind == "candidate":
                    return Judgement(
                        event["verified"],
                        event.get("instead"),
                        decode(Truth, event["truth"]),
                        event.get("mismatch"),
                    )
            raise process.error() or process.crash()
    finally:
        other.remove()


class _Checking:
    """A ``check`` that runs."""

    def __init__(self, script: Source, arguments: Sequence[str], options: Dict[str, Any]) -> None:
        options = dict(options)
        args = options.pop("args", ())
        self._place = _Place(script)
        try:
            typed = ["check", self._place.script, *arguments, *_running(**options)]
            self._process = _Process([*typed, "--format", "jsonl", "--", *args])
        except BaseException:
            self._place.remove()
            raise

    def __enter__(self) -> "_Process":
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._place.remove()


class _Place:
    """A script with a folder for what is written beside it."""

    def __init__(self, script: Source) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="minrepro-api-"))
        if isinstance(script, str) and "\n" in script:
            file = self.folder / "script.py"
            file.write_text(script, encoding="utf-8")
            self.script = str(file)
        else:
            self.script = os.fspath(script)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class _Process:
    """The program, and the events that it prints."""

    def __init__(self, arguments: Sequence[str], cwd: Optional[Source] = None) -> None:
        self.report: Optional[Dict[str, Any]] = None
        self._failure: Optional[Dict[str, Any]] = None
        self._end: Optional[Dict[str, Any]] = None
        # A file, since a pipe that nobody reads would stop the program.
        self._stderr: IO[bytes] = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C reaches it by `interrupt`, once, and not by the terminal as well.
        self._child = subprocess.Popen(
            [find_binary(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
            cwd=cwd,
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    def __iter__(self) -> Iterator[Event]:
        stream = self._child.stdout
        assert stream is not None
        for line in stream:
            fields = json.loads(line)
            kind = fields["event"]
            if kind == "begin" and fields["version"] != EVENTS_VERSION:
                raise RuntimeError(
                    f"this package reads events of version {EVENTS_VERSION}, and the program prints "
                    f"version {fields['version']}: reinstall minrepro"
                )
            if kind == "report":
                self.report = fields
            elif kind == "error":
                self._failure = fields
            elif kind == "end":
                self._end = fields
            yield Event(kind, fields)

    def wait(self) -> None:
        """Reads all that is left, and waits for the end."""
        for _ in self:
            pass
        self._child.wait()

    def interrupt(self) -> None:
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends it, if it has not ended: the second signal ends it at once."""
        while self._child.poll() is None:
            self._child.send_signal(signal.SIGTERM)
            try:
                self._child.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue
        if self._child.stdout is not None:
            self._child.stdout.close()
        self._stderr.close()

    def status(self) -> str:
        return str(self._end["name"]) if self._end else "bug"

    def error(self) -> Optional[MinreproError]:
        failure = self._failure
        if failure is None:
            return None
        return MinreproError(
            failure["message"],
            name=failure["name"],
            code=failure["code"],
            causes=failure["causes"],
            details=failure["details"],
            hint=failure.get("hint"),
        )

    def crash(self) -> MinreproError:
        """An end without a result and without an event that explains it."""
        code = self._child.wait()
        self._stderr.seek(0)
        said = self._stderr.read().decode("utf-8", "replace").strip()
        name = {2: "usage", 70: "bug"}.get(code, self.status())
        return MinreproError(said or f"minrepro ended with status {code}", name=name, code=code)


def _running(
    *,
    signature: Texts = (),
    python: Optional[Source] = None,
    test: Optional[str] = None,
    control: Optional[str] = None,
    good: Optional[Source] = None,
    env: Optional[Mapping[str, str]] = None,
    timeout: Optional[Duration] = None,
    memory: Union[int, str, None] = None,
    jobs: Optional[int] = None,
    runner: str = "auto",
    sandbox: str = "auto",
    loose: bool = False,
) -> List[str]:
    """The arguments that say how a script is run and judged."""
    arguments = _options("--signature", signature)
    values: Tuple[Tuple[str, Any], ...] = (
        ("--test", test),
        ("--python", None if test else os.fspath(python or sys.executable)),
        ("--control", control),
        ("--good", good),
        ("--timeout", _duration(timeout)),
        ("--memory", memory),
        ("--jobs", jobs),
        ("--runner", runner),
        ("--sandbox", sandbox),
    )
    for name, value in values:
        if value is not None:
            arguments += [name, str(value)]
    for name, text in (env or {}).items():
        arguments += ["--env", f"{name}={text}"]
    if loose:
        arguments.append("--loose")
    return arguments


def _options(name: str, values: Texts) -> List[str]:
    return [word for value in _texts(values) for word in (name, value)]


def _texts(values: Texts) -> Sequence[str]:
    return [values] if isinstance(values, str) else values


def _duration(value: Optional[Duration]) -> Optional[str]:
    return None if value is None else str(value)
