"""The steps of the GitHub Action, run as a runner runs them: by variables and files."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from minrepro._binary import find_binary

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")


class Runner:
    """What a job's machine gives to its steps."""

    def __init__(self, folder):
        self.temp = folder / "temp"
        self.work = folder / "work"
        self.files = {
            name: self.temp / name.lower()
            for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        }
        for made in (self.temp, self.work):
            made.mkdir()
        for file in self.files.values():
            file.touch()

    def step(self, name, inputs):
        """Runs a step of the action with inputs; the others have their defaults."""
        (step,) = (step for step in ACTION["runs"]["steps"] if step["name"] == name)
        values = {name: spec.get("default", "") for name, spec in ACTION["inputs"].items()}
        values.update(token="secret", repository="owner/name")
        values.update(inputs)
        assert "${{" not in step["run"], "an expression in a script is a hole"
        variables = {
            key: INPUT.sub(lambda found: str(values[found[1]]), text)
            for key, text in step["env"].items()
        }
        path = [*reversed(self.lines("GITHUB_PATH")), os.environ["PATH"]]
        env = {
            **os.environ,
            **variables,
            "PATH": ":".join(path),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_WORKSPACE": str(self.work),
            **{name: str(file) for name, file in self.files.items()},
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(command, cwd=self.work, env=env, stdout=subprocess.PIPE, text=True)

    def lines(self, name):
        return self.files[name].read_text().splitlines()

    def outputs(self):
        return dict(line.split("=", 1) for line in self.lines("GITHUB_OUTPUT"))

    def put_on_path(self, program, name="minrepro"):
        """What the step of the installation does."""
        folder = self.temp / "bin"
        folder.mkdir()
        shutil.copy(program, folder / name)
        self.files["GITHUB_PATH"].write_text(f"{folder}\n")


@pytest.fixture
def runner(tmp_path):
    folder = tmp_path / "runner"
    folder.mkdir()
    return Runner(folder)


def test_a_script_is_reduced(runner, noisy):
    wheel = os.environ.get("MINREPRO_WHEEL")
    if wheel:
        installed = runner.step("Install minrepro", {"wheel": wheel})
        assert installed.returncode == 0 and installed.stdout.startswith("minrepro ")
    else:
        runner.put_on_path(find_binary())
    (runner.work / "noisy.py").write_text(noisy.read_text())
    done = runner.step(
        "Reduce", {"target": "noisy.py", "signature": "TypeError: Object of type set"}
    )
    assert done.returncode == 0, done.stdout
    outputs = runner.outputs()
    assert (outputs["status"], outputs["exit-code"]) == ("reduced", "0")
    folder = Path(outputs["folder"])
    assert {"result.py", "report.html", "report.md", "log.txt"} <= {
        p.name for p in folder.iterdir()
    }
    summary = runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert "### Minimized repro" in summary and "exit status 0" in summary
    assert [path.name for path in runner.work.iterdir()] == ["noisy.py"]


def test_a_script_without_a_bug_fails_the_step(runner):
    runner.put_on_path(find_binary())
    (runner.work / "fine.py").write_text("print(1)\n")
    done = runner.step("Reduce", {"target": "fine.py"})
    assert done.returncode == 1
    assert runner.outputs()["status"] == "not-reproduced"
    assert "hint:" in runner.files["GITHUB_STEP_SUMMARY"].read_text()


@pytest.fixture
def recording(runner, tmp_path):
    """A program that writes its arguments and the token down instead of doing anything."""
    program = tmp_path / "recorder"
    record = tmp_path / "record"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" "token=$GH_TOKEN" >{record}\nexit "${{CODE:-0}}"\n'
    )
    program.chmod(0o755)
    runner.put_on_path(program)
    return record


@pytest.mark.parametrize("target", ["123", "https://github.com/owner/name/issues/123"])
def test_an_issue_is_scrubbed_and_nothing_is_written_to_it(runner, recording, target):
    assert runner.step("Reduce", {"target": target, "sandbox": "require"}).returncode == 0
    words = recording.read_text().splitlines()
    assert words[:2] == ["scrub", "--dry-run"] and words[-2:] == [target, "token=secret"]
    assert "--sandbox=require" in words and "--trust" not in words and "--post" not in words
    assert ("--repo=owner/name" in words) == (target == "123")
    runner.step("Reduce", {"target": target, "trust": "true"})
    assert "--trust" in recording.read_text().splitlines()


def test_a_script_does_not_see_the_token_and_a_target_is_no_code(runner, recording):
    name = "$(touch pwned);`touch pwned` --post.py"
    for target in [name, "-o.py", "check"]:
        (runner.work / target).write_text("1 / 0\n")
        assert (
            runner.step("Reduce", {"target": target, "signature": "$(touch pwned)"}).returncode == 0
        )
        words = recording.read_text().splitlines()
        assert words[-1] == "token="
        assert words[0].endswith(f"/{target}") and words[0].startswith("/")
        assert "--signature=$(touch pwned)" in words
    assert not (runner.work / "pwned").exists()


@pytest.mark.parametrize("target", ["no-such-file.py", "123; touch pwned", "--post"])
def test_a_target_that_is_nothing_is_refused(runner, recording, target):
    done = runner.step("Reduce", {"target": target})
    assert done.returncode == 2 and "::error" in done.stdout
    assert not recording.exists()


@pytest.mark.parametrize(("code", "fails"), [(3, False), (7, False), (6, True), (5, True)])
def test_results_that_are_less_do_not_fail_the_step(runner, recording, monkeypatch, code, fails):
    monkeypatch.setenv("CODE", str(code))
    (runner.work / "x.py").write_text("1 / 0\n")
    assert (runner.step("Reduce", {"target": "x.py"}).returncode != 0) == fails
    assert runner.outputs()["exit-code"] == str(code)


def test_workflows_never_put_what_a_stranger_wrote_into_a_script():
    files = [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("docs/src/examples/*.yml")]
    assert len(files) >= 2
    for file in files:
        workflow = yaml.safe_load(file.read_text())
        assert workflow["permissions"] == {}
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert "${{" not in step.get("run", ""), f"{file}: {step}"
                uses = step.get("uses", "")
                assert not uses or re.search(r"@[0-9a-f]{40}$", uses), uses


def test_the_job_that_runs_a_script_can_write_nothing_and_the_one_that_writes_runs_nothing():
    text = (ROOT / "docs/src/examples/minrepro-comment.yml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    assert jobs["reduce"]["permissions"] == {"issues": "read"}
    assert jobs["answer"]["permissions"] == {"issues": "write"}
    uses = [step["uses"] for step in jobs["answer"]["steps"] if "uses" in step]
    assert all(name.startswith("actions/download-artifact@") for name in uses)
    assert "COLLABORATOR" in jobs["asked"]["if"] and jobs["reduce"]["needs"] == "asked"


@pytest.mark.parametrize(
    ("comment", "permission", "expected"),
    [
        ("/minrepro", "write", ("true", "false")),
        ("/minrepro --trust\nplease", "admin", ("true", "true")),
        ("/minrepro", "read", ("false", "false")),
        ("/minrepro --post; echo answer=true", "write", ("false", "false")),
        ("/minrepro $(touch pwned)", "write", ("false", "false")),
    ],
)
def test_who_is_answered(runner, tmp_path, comment, permission, expected):
    text = (ROOT / "docs/src/examples/minrepro-comment.yml").read_text()
    (step,) = yaml.safe_load(text)["jobs"]["asked"]["steps"]
    program = tmp_path / "gh"
    program.write_text(f"#!/bin/sh\necho {permission}\n")
    program.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "COMMENT": comment,
        "USER": "ada",
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_OUTPUT": str(runner.files["GITHUB_OUTPUT"]),
    }
    subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=runner.work, env=env, check=True
    )
    outputs = runner.outputs()
    assert (outputs["answer"], outputs["trust"]) == expected
    assert not (runner.work / "pwned").exists()
