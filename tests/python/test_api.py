"""``minrepro.minimize`` and its sisters, by the real program."""

import dataclasses
import json
import os
import subprocess
import sys
import typing
from pathlib import Path

import jsonschema
import minrepro
import pytest
from conftest import NOISY
from minrepro import _report
from minrepro._binary import find_binary

SCHEMAS = Path(__file__).parents[2] / "docs" / "src" / "schema"


def schema(name):
    return json.loads((SCHEMAS / name).read_text())


def test_a_script_is_minimized_and_untouched(noisy):
    result = minrepro.minimize(noisy, signature="TypeError: Object of type set")
    assert result.is_verified and result.status == "reduced"
    assert "json.dumps(" in result.text and "unused" not in result.text
    assert result.report.after.tokens < 15 < result.report.before.tokens
    assert result.report.interpreter.path and result.report.commits[0].by
    assert result.report.truth.findings[0].holds
    assert any(not kept.verdict.is_same for kept in result.report.kept)
    assert "### Minimized repro" in result.markdown
    assert noisy.read_text() == NOISY
    assert [path.name for path in noisy.parent.iterdir() if path.is_file()] == ["noisy.py"]


def test_a_text_is_minimized_and_events_are_seen():
    seen = []
    result = minrepro.minimize(NOISY, on_event=seen.append)
    kinds = [event.kind for event in seen]
    assert kinds[0] == "begin" and kinds[-1] == "end" and "improvement" in kinds
    assert str(result) == result.text and "set" in result.report.signature


def test_the_result_is_written_where_asked(noisy, tmp_path):
    small = tmp_path / "small.py"
    result = minrepro.minimize(noisy, output=small)
    assert small.read_text() == result.text


def test_an_iterator_sees_what_happens_and_can_cancel():
    with minrepro.start(NOISY, test="sh -c 'sleep 0.05; grep -q json.dumps \"$0\"'") as reduction:
        for event in reduction:
            if event.kind == "improvement":
                reduction.cancel()
        result = reduction.result()
    assert result.status == "interrupted" and result.report.stop == "interrupted"
    assert "json.dumps" in result.text and len(result.text) < len(NOISY)


def test_an_exception_of_the_listener_ends_the_program():
    script = "import time\ntime.sleep(60)\n"
    with pytest.raises(KeyboardInterrupt):
        with minrepro.start(script, signature="timeout") as reduction:
            for event in reduction:
                if event.kind == "phase":
                    raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(reduction.pid, 0)


def test_a_script_without_the_bug_is_an_error_with_fields():
    with pytest.raises(minrepro.MinreproError) as caught:
        minrepro.minimize("x = 1\nprint(x)\n", signature="ValueError: no")
    error = caught.value
    assert (error.name, error.code) == ("not-reproduced", 1)
    assert error.hint and any("ValueError" in line for line in error.details)
    with pytest.raises(minrepro.MinreproError) as caught:
        minrepro.minimize("no-such-file.py")
    assert caught.value.name == "usage" and caught.value.causes
    with pytest.raises(minrepro.MinreproError) as caught:
        minrepro.minimize(NOISY, runner="no-such-runner")
    assert caught.value.name == "usage" and "no-such-runner" in str(caught.value)


def test_a_budget_is_kept():
    result = minrepro.minimize(NOISY, max_runs=3, signature="TypeError")
    assert result.status == "stopped" and result.report.runs <= 3
    assert not result.is_verified


def test_check_finds_the_signature(noisy):
    found = minrepro.check(noisy, runs=2)
    assert found.signature.startswith("TypeError: Object of type set")
    assert found.is_steady and found.of == 2 and len(found.runs) == 2
    with pytest.raises(minrepro.MinreproError):
        minrepro.check("x = 1\nprint(x)\n", runs=1)


def test_judge_tells_the_same_bug_from_its_words(noisy):
    assert minrepro.judge(noisy, "import json\njson.dumps({''})\n").verified
    other = minrepro.judge(noisy, "x = 1\nprint(x)\n")
    assert not other.verified and other.instead
    words = "raise TypeError(\n    'Object of type set is not JSON serializable')\n"
    assert not minrepro.judge(noisy, words).verified


def test_every_event_and_the_report_have_the_form_that_the_schema_says(noisy):
    validator = jsonschema.Draft202012Validator(schema("events-1.json"))
    commands = [
        [noisy, "--signature", "TypeError: Object of type set"],
        [noisy, "--signature", "TypeError: Object of type set"],
        [noisy, "--no-journal", "--max-runs", "4", "-o", "/dev/null/no"],
        [noisy, "--signature", "ValueError: no"],
        ["check", noisy, "-n", "2"],
        ["check", noisy, "--candidate", noisy],
        ["check", "no-such-file.py"],
    ]
    kinds = set()
    for words in commands:
        command = [find_binary(), *map(str, words), "--format", "jsonl"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        for event in events:
            validator.validate(event)
            kinds.add(event["event"])
        assert events[-1] == {"event": "end", "code": done.returncode, "name": events[-1]["name"]}
    assert kinds >= {
        *("begin", "phase", "signature", "runner", "batch", "run", "improvement", "report"),
        *("baseline-run", "checked", "candidate", "error", "end"),
    }
    path = noisy.with_name("report.json")
    subprocess.run([find_binary(), noisy, "-q", "--report", path], check=True)
    report = json.loads(path.read_text())
    jsonschema.Draft202012Validator(schema("report-1.json")).validate(report)
    assert minrepro.minimize(noisy).raw_report.keys() == report.keys()


def test_what_other_tests_recorded_has_the_form_that_the_schema_says():
    recorded = Path(__file__).parents[2] / "target" / "tmp" / "recorded"
    events = [line for path in recorded.glob("*.jsonl") for line in path.read_text().splitlines()]
    reports = [path.read_text() for path in recorded.glob("*.json")]
    if not events or not reports:
        pytest.skip("no test of the program has recorded anything")
    for texts, name in [(events, "events-1.json"), (reports, "report-1.json")]:
        validator = jsonschema.Draft202012Validator(schema(name))
        for text in texts:
            validator.validate(json.loads(text))


def test_a_wrong_event_does_not_have_the_form():
    validator = jsonschema.Draft202012Validator(schema("events-1.json"))
    for wrong in [{"event": "end"}, {"event": "no-such"}, {"event": "phase", "phase": "no-such"}]:
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (_report.Report, None),
        (_report.Size, "Size"),
        (_report.Commit, "Commit"),
        (_report.Spent, "Spent"),
        (_report.Difference, "Difference"),
        (_report.Slip, "Slip"),
        (_report.WhyKept, "WhyKept"),
        (_report.Condition, "Ablated"),
        (_report.Confirmed, "Confirmed"),
        (_report.Finding, "CheckFinding"),
        (_report.Truth, "Truth"),
        (_report.Interpreter, "InterpreterReport"),
        (_report.EmittedTest, "Emitted"),
        (_report.Inlining, "ReportedInlining"),
    ],
)
def test_dataclasses_mirror_the_report(cls, name):
    whole = schema("report-1.json")
    of = whole["$defs"][name] if name else whole
    fields = {_report.json_name(field): field for field in dataclasses.fields(cls)}
    assert fields.keys() == of["properties"].keys()
    for name, one in fields.items():
        has_default = (one.default, one.default_factory) != (dataclasses.MISSING,) * 2
        assert name in of["required"] or has_default, "an older report may lack it"
    assert typing.get_type_hints(cls)


def test_the_module_is_the_program():
    def said(command):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    command = [sys.executable, "-m", "minrepro", "--version"]
    assert said(command) == said([find_binary(), "--version"])
