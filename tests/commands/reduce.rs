//! The verbs on input that works.

use std::{fs, os::unix::fs::PermissionsExt, process::Stdio, time::Duration};

use super::{NOISY, Place, SIGNATURE};
use crate::support::{command, interpreters, processes_with, skip, snapshot};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_script_is_reduced_and_the_rest_of_the_folder_stays() {
    let place = Place::new();
    place.file("x.py", NOISY);
    place.file("beside/data.txt", "data");
    let before = snapshot(&place.work());
    let output = place.run(&[
        "x.py",
        "--signature",
        SIGNATURE,
        "--report",
        "r.json",
        "--diff",
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), b"".as_slice()),
        "{stderr}"
    );
    let result = place.read("x.min.py");
    for kept in ["import json", "json.dumps("] {
        assert!(result.contains(kept), "{result}");
    }
    for gone in ["unused", "print", "__main__", "LIMIT", "getcwd"] {
        assert!(!result.contains(gone), "`{gone}` is in\n{result}");
    }
    assert!(
        stderr.contains("confirmed by 3 fresh runs") && stderr.contains("verify: cd "),
        "{stderr}"
    );
    assert!(
        stderr.contains("-    print('starting', file=sys.stderr)"),
        "{stderr}"
    );

    let report = json(&place.read("r.json"));
    assert_eq!(
        (report["version"].as_u64(), report["stop"].as_str()),
        (Some(1), Some("done"))
    );
    assert_eq!(report["signature"], SIGNATURE);
    assert_eq!(report["confirmed"], serde_json::json!({"same": 3, "of": 3}));
    let tokens = |key: &str| report[key]["tokens"].as_u64().unwrap();
    assert!(tokens("after") < tokens("before"));
    let commits = report["commits"].as_array().unwrap();
    assert_eq!(
        commits.last().unwrap()["tokens"].as_u64(),
        Some(tokens("after"))
    );
    assert!(
        report["runs"].as_u64().unwrap() > 0
            && report["seconds_in_candidates"].as_f64().unwrap() > 0.0
    );
    assert!(!report["kept"].as_array().unwrap().is_empty());
    let spent: u64 = report["spent"]
        .as_object()
        .unwrap()
        .values()
        .map(|it| it["runs"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(spent), report["runs"].as_u64());
    assert!(
        report["interpreter"]["version"]
            .as_str()
            .unwrap()
            .contains("3.")
    );

    for name in ["x.min.py", "r.json"] {
        fs::remove_file(place.work().join(name)).unwrap();
    }
    assert_eq!(snapshot(&place.work()), before);
    assert!(place.scratch_is_empty());
}

#[test]
fn what_a_fork_does_not_show_is_reduced_in_fresh_interpreters() {
    let place = Place::new();
    // The classes of what is imported ahead are there before it is imported.
    let classes = "[it.__module__ for it in getattr(object, '__subclasses' + '__')()]";
    let script = format!(
        "x = 1\nthere = {classes}\nimport asyncio\n\
         if 'asyncio.events' not in there:\n    raise ValueError('fresh')\n"
    );
    place.file("x.py", script);
    let output = place.run(&["x.py", "-s", "ValueError: fresh", "--report", "r.json"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = json(&place.read("r.json"));
    assert!(
        report["runner"]
            .as_str()
            .unwrap()
            .starts_with("cold (a warm run behaves differently"),
        "{report}"
    );
    assert_eq!(
        (&report["confirmed"]["same"], &report["confirmed"]["of"]),
        (&3.into(), &3.into())
    );
    assert!(!place.read("x.min.py").contains("x = 1"));
}

#[test]
fn the_result_of_the_result_is_the_same() {
    let place = Place::new();
    place.file("x.py", NOISY);
    assert!(place.run(&["x.py", "-o", "once.py"]).status.success());
    let once = place.read("once.py");
    let output = place.run(&["once.py", "-o", "twice.py", "--report", "r.json"]);
    assert!(output.status.success());
    assert_eq!(place.read("twice.py"), once);
    assert!(
        json(&place.read("r.json"))["commits"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn any_number_of_jobs_gives_the_same() {
    let mut seen = Vec::new();
    for jobs in ["1", "2", "8"] {
        let place = Place::new();
        place.file("x.py", NOISY);
        let output = place.run(&[
            "x.py",
            "--signature",
            SIGNATURE,
            "-j",
            jobs,
            "--report",
            "r.json",
            "-q",
        ]);
        assert!(output.status.success() && output.stderr.is_empty());
        let mut report = json(&place.read("r.json"));
        for commit in report["commits"].as_array_mut().unwrap() {
            commit.as_object_mut().unwrap().remove("seconds");
        }
        seen.push((
            place.read("x.min.py"),
            report["commits"].to_string(),
            report["runs"].to_string(),
        ));
    }
    for other in &seen[1..] {
        assert_eq!(*other, seen[0]);
    }
}

#[test]
fn the_result_goes_to_standard_output_where_asked() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let output = place.run(&["x.py", "-o", "-"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("json.dumps(") && !text.contains("unused"),
        "{text}"
    );
    assert!(!place.work().join("x.min.py").exists());
}

#[test]
fn events_are_json_where_asked() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let output = place.run(&["x.py", "--format", "jsonl"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(json).collect();
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    assert!(
        count("batch") > 1 && count("run") > 5 && count("improvement") > 1 && count("report") == 1,
        "{text}"
    );
    assert_eq!(events[0]["event"], "begin");
    assert_eq!(events[0]["version"], 1);
    assert_eq!(events[events.len() - 2]["stop"], "done");
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["code"]), (&"end".into(), &0.into()));
    // A name and a number, not a sentence.
    let mut runs = events.iter().filter(|event| event["event"] == "run");
    assert!(runs.any(|run| run["pass"].is_string() && run["seconds"].as_f64() > Some(0.0)));
    assert!(output.stderr.is_empty());
}

#[test]
fn a_test_command_judges_where_given() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let path = place.file(
        "test.sh",
        "#!/bin/sh\ntest -f x.py && grep -q 'tags' \"$1\"\n",
    );
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&path, permissions).unwrap();
    let output = place.run(&["x.py", "--test", "./test.sh"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let result = place.read("x.min.py");
    assert!(
        result.contains("tags") && result.lines().count() <= 4,
        "{result}"
    );
}

#[test]
fn siblings_can_be_imported_and_read() {
    let place = Place::new();
    place.file(
        "x.py",
        "import os\nimport helper\nprint(os.getpid())\nhelper.load(open('data.json'))\n",
    );
    place.file(
        "helper.py",
        "import json\ndef load(file): return json.load(file)\n",
    );
    place.file("data.json", "{broken\n");
    let output = place.run(&["x.py"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        place.read("x.min.py"),
        "import json\njson.load(open('data.json'))\n"
    );
}

#[test]
fn a_script_that_catches_and_prints_is_reduced_by_its_words() {
    let place = Place::new();
    place.file(
        "x.py",
        "import sys\nx = [1]\ntry:\n    y = 2\n    x[3]\n\
         except IndexError as e:\n    print('Error:', e)\nprint('bye')\n",
    );
    let output = place.run(&["x.py"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("stdout:Error: list index out of range"),
        "{stderr}"
    );
    assert!(!place.read("x.min.py").contains("bye"));
}

#[test]
fn numbers_in_a_signature_that_keep_it_large_are_told() {
    let place = Place::new();
    place.file(
        "x.py",
        "size = 64\nraise RuntimeError(f'cannot multiply ({size}x4 and 8x{size})')\n",
    );
    let run = |signature: &str| {
        let output = place.run(&["x.py", "--signature", signature, "--no-journal"]);
        assert!(output.status.success());
        (
            place.read("x.min.py"),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (text, stderr) = run("RuntimeError: cannot multiply (64x4 and");
    assert!(
        text.contains("64")
            && stderr.contains("--signature \"RuntimeError: cannot multiply (… and\""),
        "{stderr}"
    );
    let (text, stderr) = run("RuntimeError: cannot multiply (… and");
    assert!(
        !text.contains("64") && !stderr.contains("hint:"),
        "{stderr}"
    );
}

#[test]
fn the_weakest_compiler_that_shows_the_bug_is_named() {
    let place = Place::new();
    // Stands in for PyTorch: what is beside the script is imported first.
    place.file(
        "torch.py",
        "def compile(model, *, backend='inductor', mode=None):\n    if backend != \
         'eager':\n        raise RuntimeError('the backend broke')\n    return model\n",
    );
    place.file(
        "x.py",
        "import torch\ndef f(x):\n    return x\nf = torch.compile(f, mode='max-autotune')\n\
         print(f(1))\n",
    );
    let output = place.run(&["x.py", "--no-journal"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.contains("compiler needed: AOT autograd (backend `aot_eager`)"),
        "{stderr}"
    );
    assert!(
        place.read("x.min.py").contains("backend=\"aot_eager\""),
        "{}",
        place.read("x.min.py")
    );
}

#[test]
fn what_only_the_compiler_does_needs_the_compiler() {
    let place = Place::new();
    place.file(
        "torch.py",
        "def compile(model, **settings):\n    return lambda *given: model(*given) + 1\n",
    );
    place.file(
        "x.py",
        "import torch\ndef f(x, y):\n    return x * y\nold = f(2, 3)\n\
         new = torch.compile(f, mode='a')(2, 3)\nassert old == new, 'results differ'\n",
    );
    let output = place.run(&["x.py", "--no-journal"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success()
            && stderr.contains("control: the script succeeds without the compiler"),
        "{stderr}"
    );
    let text = place.read("x.min.py");
    assert!(
        text.contains("torch.compile(") && text.contains("assert ") && !text.contains("mode"),
        "{text}"
    );
}

#[test]
fn a_failure_that_plain_code_shows_as_well_is_another_bug() {
    let place = Place::new();
    place.file(
        "torch.py",
        "def checked(size):\n    if size < 1:\n        raise ValueError('bad size')\n    \
         return size\ndef compile(model):\n    def run(*given):\n        raise ValueError('bad \
         size')\n    return run\n",
    );
    place.file(
        "x.py",
        "import torch\ndef f(x):\n    return torch.checked(x)\nf(3)\ntorch.compile(f)(3)\n",
    );
    let output = place.run(&["x.py", "-s", "ValueError: bad size", "--no-journal"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let text = place.read("x.min.py");
    assert!(text.contains("torch.compile("), "{text}");
    // Valid code: it succeeds once the compiler has no bug.
    place.file(
        "torch.py",
        "def checked(size):\n    return size\ndef compile(model):\n    return model\n",
    );
    let fixed = command("python3")
        .args(["-B", "x.min.py"])
        .current_dir(place.work())
        .output()
        .unwrap();
    assert!(fixed.status.success(), "{text}\n{fixed:?}");
}

#[test]
fn exported_code_stays_valid_when_it_is_called() {
    let place = Place::new();
    place.file("torch/__init__.py", "");
    place.file(
        "torch/export.py",
        "def export(mod, args, kwargs=None):\n    raise RuntimeError('cannot export')\n",
    );
    place.file(
        "x.py",
        "from torch.export import export\nclass Scale:\n    def __init__(self, by):\n        \
         self.by = by\n    def __call__(self, x):\n        return x.count * self.by\nclass \
         Box:\n    count = 3\nunused = [1, 2]\nprint(unused)\nexport(Scale(2), (Box(),))\n",
    );
    let output = place.run(&["x.py", "-s", "RuntimeError: cannot export", "--no-journal"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let text = place.read("x.min.py");
    assert!(!text.contains("unused"), "{text}");
    // Valid code: the call that is to be exported succeeds.
    place.file(
        "torch/export.py",
        "def export(mod, args, kwargs=None):\n    mod(*args)\n",
    );
    let fixed = command("python3")
        .args(["-B", "x.min.py"])
        .current_dir(place.work())
        .output()
        .unwrap();
    assert!(fixed.status.success(), "{text}\n{fixed:?}");
}

#[test]
fn encodings_and_line_ends_survive() {
    let place = Place::new();
    place.file(
        "x.py",
        b"# -*- coding: latin-1 -*-\r\nunused = 1\r\nname = 'caf\xe9'\r\n\
         if unused:\r\n\tname.encode('ascii')\r\n",
    );
    let output = place.run(&["x.py", "--passes", "drop-statements,unwrap-blocks"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        fs::read(place.work().join("x.min.py")).unwrap(),
        b"# -*- coding: latin-1 -*-\r\nname = 'caf\xe9'\r\nname.encode('ascii')\r\n"
    );
}

#[test]
fn budgets_stop_with_the_best_so_far() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let output = place.run(&["x.py", "--max-runs", "10", "--report", "r.json"]);
    assert_eq!(output.status.code(), Some(3));
    let report = json(&place.read("r.json"));
    assert_eq!(
        (report["runs"].as_u64(), report["stop"].as_str()),
        (Some(10), Some("max-runs"))
    );
    let undone = report["undone"].as_array().unwrap();
    assert!(undone.iter().any(|step| step == "the final sweep"));
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        shown.contains("stopped by `--max-runs`; left undone: "),
        "{shown}"
    );
    assert!(place.read("x.min.py").len() < NOISY.len());
    let output = place.run(&[
        "x.py",
        "--max-time",
        "0.5",
        "-o",
        "y.py",
        "--no-journal",
        "--test",
        "sh -c 'sleep 0.1'",
    ]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The first two runs end, the third does not: the bug was seen, and no candidate was run.
#[test]
fn once_the_bug_was_seen_there_is_a_file() {
    let place = Place::new();
    let script = "import time\ntime.sleep(4)\n{}['key']\n";
    place.file("x.py", script);
    let started = std::time::Instant::now();
    let args = ["x.py", "-s", "KeyError: 'key'", "-j", "2"];
    let output = place.run(&[&args[..], &["--max-time", "7", "--report", "r.json"]].concat());
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(started.elapsed().as_secs() < 11, "{shown}");
    assert_eq!(place.read("x.min.py"), script);
    let report = json(&place.read("r.json"));
    assert_eq!(report["stop"], "max-time");
    assert_eq!(report["runs"], 0);
    assert!(
        shown.contains("stopped by `--max-time`; left undone: simpler environments"),
        "{shown}"
    );
    // Nobody looked for a control.
    assert!(
        shown.contains("not verified: the time was up before that was looked at")
            && !shown.contains("no control"),
        "{shown}"
    );
}

#[test]
fn passes_can_be_chosen() {
    let place = Place::new();
    place.file("x.py", NOISY);
    assert!(
        place
            .run(&["x.py", "--passes", "drop-comments,drop-elements"])
            .status
            .success()
    );
    assert!(place.read("x.min.py").contains("def unused"));
    assert!(
        place
            .run(&["x.py", "--passes", "no-drop-comments"])
            .status
            .success()
    );
    assert!(!place.read("x.min.py").contains("def unused"));
    let shown = place.shown(&["passes"]);
    for pass in minrepro_reducers::registry::PASSES {
        assert!(
            shown.contains(pass.id) && shown.contains(pass.summary().trim()),
            "{shown}"
        );
    }
    insta::assert_snapshot!(place.shown(&["passes", "explain", "drop-decorators"]), @r"
    status: 0
    -- stdout
    drop-decorators (detail stage)

    Removes decorators from functions and classes.

    Before:
    @trace
    def f(): ...


    After:
    def f(): ...

    -- stderr
    ");
}

#[test]
fn a_script_is_checked() {
    let place = Place::new();
    place.file("x.py", "raise ValueError('of size 3')\n");
    let shown = place.shown(&["check", "x.py", "-q"]);
    insta::assert_snapshot!(shown, @r"
    status: 0
    -- stdout
    signature: ValueError: of size
    shown by:  5 of 5 runs
    timeout:   10 s for each candidate
    as typed:  -s 'ValueError: of size'
    -- stderr
    ");
    place.file("fine.py", "print(1)\n");
    assert!(
        place
            .shown(&["check", "fine.py"])
            .starts_with("status: 1\n")
    );
    place.file("printed.py", "print('FAIL: sums differ')\n");
    let shown = place.shown(&["check", "printed.py"]);
    assert!(
        shown.contains("signature: stdout:FAIL: sums differ")
            && shown.contains("only prints its error"),
        "{shown}"
    );
}

#[test]
fn completions_and_help_are_there() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = place.run(&["completions", shell]);
        assert!(
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("max-runs")
        );
    }
    let help = place.shown(&["--help"]);
    for part in [
        "Examples:",
        "Signatures:",
        "Exit status:",
        "--max-time",
        "signal:NAME",
        "--no-journal",
    ] {
        assert!(help.contains(part), "{part} is not in\n{help}");
    }
    let page = place.shown(&["man", "bisect"]);
    assert!(page.contains(".TH minrepro-bisect 1"), "{page}");
}

#[test]
fn a_program_that_kills_its_supervisor_leaves_nothing() {
    let place = Place::new();
    let marker = format!("minrepro-orphan-{}", std::process::id());
    place.file(
        "x.py",
        format!(
            "import os, signal, sys, subprocess, time\n\
             subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{marker}'], \
             start_new_session=True)\n\
             os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)\n"
        ),
    );
    let shown = place.shown(&["check", "x.py", "-n", "2", "--sandbox", "off"]);
    assert!(shown.contains("killed by SIGKILL"), "{shown}");
    assert_eq!(processes_with(&marker), Vec::<String>::new());
}

#[test]
fn an_interrupt_keeps_the_best_and_leaves_nothing() {
    let place = Place::new();
    place.file("x.py", NOISY);
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let mut child = place
            .command(&[
                "x.py",
                "--no-journal",
                "--format",
                "jsonl",
                "--test",
                "sh -c 'sleep 0.05; grep -q json.dumps \"$0\"'",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The first commit is told on standard output: then there is something to lose.
        let mut lines =
            std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        assert!(
            lines
                .by_ref()
                .any(|line| line.unwrap().contains("\"improvement\""))
        );
        let pid = child.id().to_string();
        assert!(
            command("kill")
                .args([&format!("-{signal}"), &pid])
                .status()
                .unwrap()
                .success()
        );
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(status));
        assert!(
            rest[rest.len() - 2].contains("\"stop\":\"interrupted\"")
                && rest[rest.len() - 1].contains(&format!("\"code\":{status}")),
            "{rest:?}"
        );
        let result = place.read("x.min.py");
        assert!(result.contains("json.dumps") && result.len() < NOISY.len());
        assert!(place.scratch_is_empty());
    }
}

#[test]
fn a_full_disk_is_said_and_the_result_is_not_lost() {
    let place = Place::new();
    place.file("x.py", NOISY);
    // A file system of 64 kB, in a mount namespace of its own, where the result is to be written.
    fs::create_dir(place.work().join("small")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=64k none small && head -c 200000 /dev/zero > small/filler \
         2>/dev/null; \
         {} x.py -q -o small/out.py; echo status $?; ls -A small",
        env!("CARGO_BIN_EXE_minrepro")
    );
    let mut command = command("unshare");
    let output = command
        .args(["-Urm", "sh", "-c", &script])
        .current_dir(place.work())
        .env("HOME", place.work())
        .env("TMPDIR", place.tmp())
        .output();
    let Ok(output) = output else {
        return skip(
            "a_full_disk_is_said_and_the_result_is_not_lost",
            "no unshare",
        );
    };
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if stderr.contains("unshare:") || stderr.contains("mount:") {
        return skip(
            "a_full_disk_is_said_and_the_result_is_not_lost",
            "no user namespaces",
        );
    }
    assert!(
        stdout.contains("json.dumps(")
            && stdout.contains("status 5")
            && stdout.ends_with("filler\n"),
        "{stdout}{stderr}"
    );
    assert!(
        stderr.contains("could not write") && stderr.contains("No space left"),
        "{stderr}"
    );
}

#[test]
fn every_interpreter_from_3_8_on_works() {
    let found = interpreters();
    if found.len() < 2 {
        skip(
            "every_interpreter_from_3_8_on_works",
            "fewer than two CPythons found",
        );
    }
    for (minor, python) in found {
        let place = Place::new();
        place.file("x.py", NOISY);
        let output = place.run(&[
            "x.py",
            "--python",
            python.to_str().unwrap(),
            "--signature",
            SIGNATURE,
            "--no-ablation",
            "-q",
        ]);
        assert!(
            output.status.success(),
            "3.{minor}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!place.read("x.min.py").contains("unused"));
    }
}

#[test]
fn reports_are_written_in_the_form_that_their_name_asks_for() {
    let place = Place::new();
    place.file(
        "x.py",
        "noise = 1\nprint(noise)\nraise ValueError('<b> & `c`')\n",
    );
    let report = |name: &str| {
        let output = place.run(&["x.py", "--report", name]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        place.read(name)
    };
    let page = report("r.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("lang=\"en\""),
        "{page}"
    );
    assert!(
        page.contains("&lt;b&gt; &amp; `c`") && !page.contains("<b>"),
        "{page}"
    );
    // One file, and nothing is fetched.
    for fetched in ["http://", "https://", "fetch(", "<link", "src=", "url("] {
        assert!(!page.contains(fetched), "{fetched} is in\n{page}");
    }
    assert!(
        page.contains("<pre><del>noise = <span class=\"n\">1</span></del></pre>"),
        "{page}"
    );
    // What makes it true stands before the code, and every change is on the plot.
    let place_of = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    let places = [
        "class=\"figures\"",
        "id=\"truth\"",
        "id=\"result\"",
        "id=\"sides\"",
        "<svg",
    ];
    assert!(places.map(place_of).is_sorted(), "{page}");
    assert!(
        page.contains("<title>run ") && page.contains("data-copies=\"text\""),
        "{page}"
    );
    assert!(
        page.contains("prefers-color-scheme: dark") && page.contains("aria-label="),
        "{page}"
    );
    let text = report("r.md");
    assert!(
        text.contains("```python\nraise ValueError('<b> & `c`')\n```\n"),
        "{text}"
    );
    assert!(
        text.contains("| tokens |") && text.contains("Why each line stays"),
        "{text}"
    );
    let output = place.run(&["x.py", "--report", "r.pdf"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("FILE.html"));
}

#[test]
fn a_death_by_a_signal_is_the_bug_itself() {
    let place = Place::new();
    place.file(
        "x.py",
        "import ctypes\nimport json\nimport os\n\n\
         def peek(address, depth=2):\n    if depth:\n        \
         return peek(address, depth - 1)\n    return ctypes.string_at(address)\n\n\
         print(json.dumps({'a': 1}))\n\
         if os.environ.get('NEVER'):\n    os.abort()\nprint(peek(0))\n",
    );
    let output = place.run(&["x.py", "--report", "r.json"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        place.read("x.min.py"),
        "import ctypes\n\nctypes.string_at(0)\n"
    );
    let report = json(&place.read("r.json"));
    assert_eq!(
        report["signature"],
        "signal:SIGSEGV and in ctypes/__init__.py, string_at()"
    );
    // What was known where it died is evidence, and no statement of its own gave that status.
    let output = place.run(&[
        "x.py",
        "--signature",
        "exit:139",
        "-o",
        "z.py",
        "--report",
        "r.json",
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(place.read("z.py"), "import ctypes\n\nctypes.string_at(0)\n");
    let traced = json(&place.read("r.json"))["commits"]
        .as_array()
        .unwrap()
        .clone();
    assert!(
        traced
            .iter()
            .any(|it| it["pass"].as_str().unwrap().starts_with("extract-")),
        "{traced:#?}"
    );
    // What dies in another way, or in another place, is another bug.
    place.file("y.py", "import os\nos.abort()\n");
    assert_eq!(
        place
            .run(&["y.py", "--signature", "signal:SIGSEGV"])
            .status
            .code(),
        Some(1)
    );
    assert!(
        place
            .run(&["y.py", "--signature", "signal:SEGV,ABRT"])
            .status
            .success()
    );
    assert_eq!(
        place
            .run(&["y.py", "--signature", "signal:SIGNONE"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_deadlock_is_reduced_and_a_sleep_does_not_pass_for_it() {
    let place = Place::new();
    // Without what it is given, `settle` sleeps as long as the deadlock waits.
    place.file(
        "x.py",
        "import threading\nimport time\n\ndef settle(seconds=600):\n    time.sleep(seconds)\n\n\
         noise = [number for number in range(3)]\nlock = threading.Lock()\nsettle(0)\n\
         lock.acquire()\n\
         print('held', noise)\nlock.acquire()\n",
    );
    let output = place.run(&[
        "x.py",
        "--signature",
        "timeout",
        "--timeout",
        "2",
        "--report",
        "r.json",
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let result = place.read("x.min.py");
    assert!(
        result.matches("acquire()").count() == 2 && !result.contains("sleep"),
        "{result}"
    );
    assert!(
        !result.contains("noise") && !result.contains("print"),
        "{result}"
    );
    let report = json(&place.read("r.json"));
    assert_eq!(report["signature"], "timeout:waiting and in acquire()");
}

#[test]
fn a_hanging_candidate_is_given_up() {
    let place = Place::new();
    // Without the line that ends the loop the script would run for ever.
    place.file(
        "x.py",
        "import time\nn = 0\n\
         while True:\n    n += 1\n    if n > 3:\n        {}['x']\n    time.sleep(0.01)\n",
    );
    let started = std::time::Instant::now();
    let output = place.run(&["x.py", "--timeout", "1", "--signature", "KeyError"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(place.read("x.min.py").contains("{}['x']"));
    assert!(started.elapsed() < Duration::from_mins(2));
}

#[test]
fn what_shows_under_the_users_control_does_not_count() {
    let place = Place::new();
    let script = "import os\nnoise = [1, 2]\nmode = os.environ.get('MODE', 'fast')\n\
         rows = noise * 2\nif mode == 'fast':\n    rows = rows[:0]\nrows[0]\n";
    place.file("x.py", script);
    let run = |control: &str| {
        place.run(&[
            "x.py",
            "-s",
            "IndexError: list index out of range",
            "-o",
            "out.py",
            "--control",
            control,
        ])
    };
    let ended = run("MODE=slow");
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let text = place.read("out.py");
    assert!(
        text.contains("os.environ") && text.contains("MODE") && !text.contains("noise"),
        "{text}"
    );
    let ended = run("MODE=fast");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("the bug shows under the control `MODE=fast` as well"),
        "{stderr}"
    );
}

#[test]
fn the_nearest_other_version_that_succeeds_is_the_control() {
    const NAME: &str = "the_nearest_other_version_that_succeeds_is_the_control";
    let Some((minor, python)) = interpreters().last_key_value() else {
        return skip(NAME, "no CPython was found");
    };
    let place = Place::new();
    let python = python.to_str().unwrap();
    // They stand for versions that are not here: the first has the bug as well.
    for (ahead, option) in [(1, "-B"), (2, "-Xdev"), (3, "-Xdev")] {
        let name = format!("bin/python3.{}", minor + ahead);
        let path = place.file(&name, format!("#!/bin/sh\nexec {python} {option} \"$@\"\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = "import sys\nnoise = [1, 2]\nrows = noise * 2\n\
         if not sys.flags.dev_mode:\n    rows = rows[:0]\nrows[0]\n";
    place.file("x.py", script);
    let mut command = place.command(&["x.py", "-p", python]);
    let ended = command.env("PATH", place.work().join("bin")).output();
    let ended = ended.unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    let text = place.read("x.min.py");
    assert!(
        text.contains("sys.flags") && !text.contains("* 2"),
        "{text}"
    );
    let claim = format!("verified: it succeeds under `Python 3.{}`", minor + 2);
    assert!(stderr.contains(&claim), "{stderr}");
}

#[test]
fn a_good_interpreter_must_succeed_with_every_candidate() {
    let place = Place::new();
    let made = command("python3")
        .args(["-m", "venv", "--without-pip", "good"])
        .current_dir(place.work())
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let script = "import sys\nnoise = [1, 2]\nrows = noise * 2\n\
         if sys.prefix == sys.base_prefix:\n    rows = rows[:0]\nrows[0]\n";
    place.file("x.py", script);
    let run = |good: &str, text: &str| {
        place.file("x.py", text);
        place.run(&["x.py", "-o", "out.py", "--good", good])
    };
    let ended = run("good/bin/python", script);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    let text = place.read("out.py");
    assert!(
        text.contains("sys.prefix") && !text.contains("* 2"),
        "{text}"
    );
    assert!(
        stderr.contains("verified: it succeeds under `--good good/bin/python`"),
        "{stderr}"
    );
    for (good, text, expected) in [
        (
            "python3",
            script.to_owned(),
            "the bug shows under the control `--good python3` as well",
        ),
        (
            "good/bin/python",
            script.replace("rows[0]", "int('rows') if rows else rows[0]"),
            "the script does not succeed under `--good good/bin/python`",
        ),
    ] {
        let ended = run(good, &text);
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn a_bare_assert_is_about_what_packages_receive() {
    let place = Place::new();
    place.file(
        "x.py",
        "import csv\nimport io\n\nrows = csv.DictReader(io.StringIO('id,price,price\\n1,40,25\\n'))\n\
         print('rows')\nassert next(rows)['price'] == '40'\n",
    );
    // Whatever is watched stands in the line of the assertion, which is the signature.
    let line = "assert next(rows)['price'] == '40'";
    let args = ["x.py", "-s", line, "--passes", "drop-statements"];
    let output = place.run(&args);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.contains("its calls of packages receive the same things"),
        "{told}"
    );
}

#[test]
fn what_stored_a_value_that_is_none_later_stays() {
    let place = Place::new();
    // Its objects come from a library, which loses one of their attributes.
    place.file(
        "boxes.py",
        "class Box:\n    tag = None\ndef copied(box):\n    return Box()\n",
    );
    place.file(
        "x.py",
        "import boxes\nbox = boxes.Box()\nbox.size = 3\nbox.tag = 'first'\nprint(box.tag)\n\
         twin = boxes.copied(box)\nprint(twin.tag.upper())\n",
    );
    let ended = place.run(&["x.py", "-o", "out.py", "--inline", "none"]);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    let text = place.read("out.py");
    assert!(text.contains(".tag =") && !text.contains("size"), "{text}");
    assert!(
        stderr.contains("it stores the missing value by `tag`"),
        "{stderr}"
    );
}

#[test]
fn a_package_goes_no_way_that_it_does_not_go_in_the_script() {
    let place = Place::new();
    place.file(
        "boxes.py",
        "def found(rows, limit=9):\n    if limit < 5:\n        rows = rows[limit:limit]\n    else:\n        \
         rows = [row for row in rows if row > 99]\n    if not rows:\n        raise LookupError('nothing found')\n    \
         return rows\n",
    );
    place.file(
        "x.py",
        "import boxes\nrows = [1, 2, 3]\nprint(len(rows))\nprint(boxes.found(rows, limit=1))\n",
    );
    let ended = place.run(&["x.py", "-o", "out.py", "--inline", "none"]);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    // Without it the same line raises the same words.
    let text = place.read("out.py");
    assert!(text.contains("limit=") && !text.contains("len("), "{text}");
}

/// Up to 3.11, the end of such an iterator is an exception without a traceback.
#[test]
fn an_iterator_of_the_language_ends_no_trace() {
    let Some((_, python)) = interpreters().range(..12).next_back() else {
        skip(
            "an_iterator_of_the_language_ends_no_trace",
            "no CPython before 3.12",
        );
        return;
    };
    let place = Place::new();
    place.file(
        "x.py",
        "import xml.etree.ElementTree as ET\nroot = ET.fromstring('<a><b/>5 pieces</a>')\n\
         print('read')\nfor part in root.iter('b'):\n    print(part.tag)\n\
         for part in root.findall('b'):\n    root.remove(part)\nprint(root.text.strip())\n",
    );
    let python = python.to_str().unwrap();
    let ended = place.run(&["x.py", "-o", "out.py", "--python", python]);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    let text = place.read("out.py");
    assert!(
        text.contains(".remove(") && !text.contains("print("),
        "{text}"
    );
}

/// The value that an assertion is about is written down, number by number, by its own methods.
#[test]
fn looking_at_a_value_is_no_way_that_its_package_goes() {
    let place = Place::new();
    place.file(
        "shelves.py",
        "class Shelf:\n    size = 2\n\n    def __init__(self, rows):\n        self.rows = rows\n\n    \
         def __len__(self):\n        return len(self.part(1))\n\n    def tolist(self):\n        \
         return list(self.part(2))\n\n    def part(self, count):\n        if count < 2:\n            \
         return self.rows[:count]\n        return self.rows\n",
    );
    place.file(
        "x.py",
        "import shelves\nprint('start')\nshelf = shelves.Shelf([1, 2])\nprint('made')\nassert not len(shelf)\n",
    );
    let ended = place.run(&["x.py", "-o", "out.py", "--inline", "none"]);
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{stderr}");
    let text = place.read("out.py");
    assert!(!text.contains("print("), "{text}");
}

#[test]
fn what_the_bug_needs_is_tried_and_told() {
    let place = Place::new();
    place.file(
        "x.py",
        "import os, json\nprint(1)\nif os.environ.get('A') == '1':\n    json.dumps({1})\n",
    );
    let args = [
        "x.py",
        "-s",
        SIGNATURE,
        "--env",
        "A=1",
        "--env",
        "B=1",
        "--passes",
        "drop-statements",
    ];
    let output = place.run(&[&args[..], &["--report", "r.json"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("needed: A=1\n"),
        "{stderr}"
    );
    assert!(
        stderr
            .lines()
            .rev()
            .take_while(|line| !line.is_empty())
            .count()
            <= 10,
        "{stderr}"
    );
    let report = json(&place.read("r.json"));
    let tried: Vec<(&str, &str)> = report["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                it["name"].as_str().unwrap(),
                it["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        tried,
        [
            ("A=1", "passed"),
            ("B=1", "same"),
            ("PYTHONHASHSEED=0", "same")
        ]
    );
    assert_eq!(
        (report["ablation_runs"].as_u64(), report["untried"].as_u64()),
        (Some(4), Some(0))
    );
    let output = place.run(&[&args[..], &["--report", "r.md"]].concat());
    assert!(output.status.success());
    let text = place.read("r.md");
    assert!(
        text.contains("- `A=1` (without it: passes)") && text.contains("not needed: `B=1`"),
        "{text}"
    );
    let output = place.run(&[&args[..], &["--report", "r.json", "--no-ablation"]].concat());
    assert!(output.status.success());
    assert_eq!(
        json(&place.read("r.json"))["conditions"],
        serde_json::json!([])
    );
}
