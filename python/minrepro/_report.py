"""The JSON report as dataclasses, and how they are read. Runs nothing.

Each field is described in the JSON Schema of the report. Fields that a newer minrepro has added are
left out; ``Result.raw_report`` has them all.
"""

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar, Union

T = TypeVar("T")

#: How a run ended: ``{"exit": 1}``, ``{"signal": 11}``, ``"timeout"`` or ``{"limit": "memory"}``.
End = Union[str, Dict[str, Union[int, str]]]


@dataclass(frozen=True)
class Size:
    """How large a program is."""

    tokens: int
    lines: int
    bytes: int


@dataclass(frozen=True)
class Interpreter:
    """The interpreter of the runs; both are empty where a test judged."""

    path: str = ""
    version: str = ""


@dataclass(frozen=True)
class Commit:
    """An accepted change."""

    #: The pass that proposed it. The field is named ``pass`` in JSON.
    by: str = field(metadata={"json": "pass"})
    note: str
    tokens: int
    run: int
    seconds: float


@dataclass(frozen=True)
class Spent:
    """The runs of a pass and their time."""

    runs: int
    seconds: float


@dataclass(frozen=True)
class Difference:
    """How a failure differs from the bug."""

    end: End
    class_: str = field(default="", metadata={"json": "class"})
    message: str = ""
    line: Optional[int] = None
    mechanism: Optional[str] = None


@dataclass(frozen=True)
class Verdict:
    """Whether a program shows the same bug."""

    #: ``same``, ``passed``, ``vacuous``, ``invalid``, ``different`` or ``timed_out``.
    name: str
    #: How its failure differs, if it is ``different``.
    difference: Optional[Difference] = None
    #: The limit in milliseconds, if it ``timed_out``.
    limit: Optional[int] = None

    @property
    def is_same(self) -> bool:
        """Whether the program shows the same bug."""
        return self.name == "same"

    @classmethod
    def from_json(cls, value: Any) -> "Verdict":
        """Reads a name, or an object with one field that explains it."""
        if isinstance(value, str):
            return cls(value)
        ((name, detail),) = value.items()
        if name == "different":
            return cls(name, difference=decode(Difference, detail))
        return cls(name, limit=detail)


@dataclass(frozen=True)
class Slip:
    """Failures other than the bug that candidates showed."""

    class_: str = field(metadata={"json": "class"})
    message: str
    count: int
    example: str
    mechanism: Optional[str] = None


@dataclass(frozen=True)
class WhyKept:
    """Why a part of the result stays."""

    line: int
    #: The pass that would have removed it. The field is named ``pass`` in JSON.
    by: str = field(metadata={"json": "pass"})
    note: str
    verdict: Verdict


@dataclass(frozen=True)
class Condition:
    """A condition that the bug may depend on, and the outcome without it."""

    sort: str
    name: str
    verdict: Verdict
    instead: Optional[str] = None
    line: Optional[int] = None

    @property
    def is_needed(self) -> bool:
        """Whether the bug did not show without it."""
        return not self.verdict.is_same


@dataclass(frozen=True)
class Confirmed:
    """How many runs there were, and how many showed the bug."""

    same: int
    of: int
    enough: bool = False


@dataclass(frozen=True)
class Finding:
    """What one check found of a program."""

    claim: str
    holds: bool


@dataclass(frozen=True)
class Truth:
    """What was found of all that makes a program show the same bug."""

    findings: List[Finding] = field(default_factory=list)
    has_control: bool = False
    unknown: Optional[str] = None


@dataclass(frozen=True)
class EmittedTest:
    """A result that was written as a test."""

    file: str
    runs: int
    folder: Optional[str] = None


@dataclass(frozen=True)
class Inlining:
    """The modules that were inlined, and those that were not."""

    modules: List[str] = field(default_factory=list)
    left: Dict[str, str] = field(default_factory=dict)
    installed: List[str] = field(default_factory=list)
    alone: Union[str, Dict[str, Any], None] = None


@dataclass(frozen=True)
class Report:
    """The result of a reduction."""

    version: int
    script: str
    output: str
    signature: str
    interpreter: Interpreter
    runner: str
    confinement: str
    before: Size
    after: Size
    runs: int
    journal_hits: int
    pruned: int
    seconds: float
    seconds_in_candidates: float
    timeout: float
    commits: List[Commit]
    slips: List[Slip]
    kept: List[WhyKept]
    confirmed: Confirmed
    stop: str
    text_before: str = ""
    text_after: str = ""
    verify: str = ""
    runs_ahead: int = 0
    compiler: Optional[str] = None
    spent: Dict[str, Spent] = field(default_factory=dict)
    undone: List[str] = field(default_factory=list)
    looser: Optional[str] = None
    shown: Optional[Confirmed] = None
    mismatch: Optional[str] = None
    truth: Truth = field(default_factory=Truth)
    stabilizer: Optional[str] = None
    own: bool = False
    conditions: List[Condition] = field(default_factory=list)
    ablation_runs: int = 0
    untried: int = 0
    test: Optional[EmittedTest] = None
    seconds_recalled: float = 0.0
    versions: List[List[str]] = field(default_factory=list)
    inlining: Inlining = field(default_factory=Inlining)


def json_name(of: "dataclasses.Field[Any]") -> str:
    """The name of a field in JSON."""
    return str(of.metadata.get("json", of.name))


def decode(cls: Type[T], value: Dict[str, Any]) -> T:
    """A dataclass from its JSON; fields that it does not know are left out."""
    hints = typing.get_type_hints(cls)
    known = {}
    for one in dataclasses.fields(cls):  # type: ignore[arg-type]
        name = json_name(one)
        if name in value:
            known[one.name] = _convert(hints[one.name], value[name])
    return cls(**known)


def _convert(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    if hint is Verdict:
        return Verdict.from_json(value)
    if dataclasses.is_dataclass(hint):
        return decode(typing.cast(type, hint), value)
    origin = getattr(hint, "__origin__", None)
    arguments: Tuple[Any, ...] = getattr(hint, "__args__", ())
    if origin is list:
        return [_convert(arguments[0], element) for element in value]
    if origin is dict:
        return {key: _convert(arguments[1], element) for key, element in value.items()}
    if origin is Union and len(arguments) == 2 and arguments[1] is type(None):
        return _convert(arguments[0], value)
    return value
