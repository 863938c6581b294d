"""Minimizes Python scripts that show a bug.

>>> import minrepro
>>> result = minrepro.minimize("script.py", signature="TypeError: Object of type set")
>>> print(result.text)

In a notebook, ``%load_ext minrepro`` and ``%%minrepro`` on the first line of a failing cell.
"""

from typing import Any

from ._api import (
    BaselineRun,
    Check,
    Event,
    Judgement,
    MinreproError,
    Reduction,
    Result,
    check,
    judge,
    minimize,
    start,
)
from ._report import (
    Commit,
    Condition,
    Confirmed,
    Difference,
    EmittedTest,
    Finding,
    Interpreter,
    Report,
    Size,
    Slip,
    Spent,
    Truth,
    Verdict,
    WhyKept,
)

__all__ = [
    "BaselineRun",
    "Check",
    "Commit",
    "Condition",
    "Confirmed",
    "Difference",
    "EmittedTest",
    "Event",
    "Finding",
    "Interpreter",
    "Judgement",
    "MinreproError",
    "Reduction",
    "Report",
    "Result",
    "Size",
    "Slip",
    "Spent",
    "Truth",
    "Verdict",
    "WhyKept",
    "check",
    "judge",
    "minimize",
    "start",
]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext minrepro``."""
    from ._notebook import load

    load(shell)
