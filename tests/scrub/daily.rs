//! The flow in daily use: nothing is written unseen, questions on a terminal, files in place of
//! GitHub, reports for machines, and scrubs that were cut short.

use std::{
    fs,
    io::Write,
    process::Stdio,
    time::{Duration, Instant},
};

use super::{
    flow::{BODY, BROKEN, Place, has_gh, issue},
    server::World,
};
use crate::support::{command, newest, skip};

const SMALL: &str = "```python\nimport torch\ntorch.stack([])\n```\n\
     RuntimeError: stack expects a non-empty TensorList of things";

fn place(body: &str) -> Place {
    Place::new(World::new(issue("stack fails", body)))
}

#[test]
fn nothing_is_written_without_agreement() {
    if !has_gh("nothing is written") {
        return;
    }
    // Nobody is there to ask, and nobody has agreed.
    for args in [[].as_slice(), &["--dry-run"], &["--json"]] {
        let place = place(SMALL);
        let output = place.run(&BROKEN, args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(
            stderr.contains("gh issue comment 7 --repo o/r --body")
                && stderr.contains("| This issue still reproduces on PyTorch 2.0.0."),
            "{stderr}"
        );
        assert_eq!(place.server.calls().len(), 3);
        assert_eq!(place.report()["plan"][0]["state"], "shown");
        if args == ["--json"] {
            let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(
                (&value["end"], &value["version"]),
                (&"AlreadyMinimal".into(), &1.into())
            );
        }
    }
}

/// Runs a scrub on a terminal of its own and types these lines.
fn typed(place: &Place, args: &[&str], lines: &str) -> String {
    let driver = "import os, pty, sys\nlines = sys.argv[1].encode()\npid, fd = pty.fork()\n\
         if pid == 0:\n    os.execvp(sys.argv[2], sys.argv[2:])\nos.write(fd, lines)\nseen = b''\n\
         while True:\n    try:\n        data = os.read(fd, 4096)\n    except OSError:\n        \
         break\n    if not data:\n        break\n    seen += data\nos.write(1, seen)\n";
    let scrub = place.command(&BROKEN, args);
    let mut command = command(newest().unwrap());
    command
        .args(["-c", driver, lines])
        .arg(scrub.get_program())
        .args(scrub.get_args())
        .current_dir(place.folder("work"))
        .env_clear();
    for (name, value) in scrub.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    String::from_utf8_lossy(&command.env("TERM", "dumb").output().unwrap().stdout).into_owned()
}

#[test]
fn questions_are_answered_on_a_terminal() {
    if !has_gh("questions") {
        return;
    }
    let place = place(SMALL);
    let seen = typed(&place, &[], "y\n");
    assert!(
        seen.contains("carry them out?") && seen.contains("done: gh issue comment"),
        "{seen}"
    );
    assert_eq!(place.server.world.lock().unwrap().comments.len(), 1);

    let declined = self::place(SMALL);
    let seen = typed(&declined, &[], "n\n");
    assert!(seen.contains("nothing was written"), "{seen}");
    assert_eq!(declined.server.world.lock().unwrap().comments.len(), 0);

    // The risky part is dropped, what is left shows the bug.
    let risky =
        self::place(&SMALL.replace("torch.stack", "import os\nos.system('ls')\ntorch.stack"));
    let seen = typed(&risky, &["--dry-run"], "d\n");
    assert!(seen.contains("the risky parts were dropped"), "{seen}");
    assert_eq!(risky.report()["end"], "AlreadyMinimal", "{seen}");
}

#[test]
fn files_stand_in_for_github() {
    if newest().is_none() {
        return skip("files", "no CPython was found");
    }
    let place = place(SMALL);
    let put = |name: &str, text: &str| {
        fs::File::create(place.folder("work").join(name))
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    };
    put("saved.json", &issue("stack fails", BODY).to_string());
    put(
        "mine.py",
        "import torch\n\nx = torch.ones(3)\nprint(x)\nprint(len(x))\ny = [z for z in x if z > 9]\n\
         torch.stack(y)\n",
    );
    put(
        "two.json",
        &issue(
            "stack fails",
            "```python\nimport torch\ntorch.one()\n```\nor\n\
         ```python\nimport torch\ntorch.two()\n```\nRuntimeError: no such thing here",
        )
        .to_string(),
    );
    let run = |args: &[&str]| {
        let output = command(env!("CARGO_BIN_EXE_minrepro"))
            .args(["scrub", "--repo", "o/r", "--python"])
            .arg(BROKEN.as_path())
            .args(args)
            .current_dir(place.folder("work"))
            .env("HOME", place.folder("home"))
            .env("TMPDIR", place.folder("tmp"))
            .env("PATH", std::env::var_os("PATH").unwrap())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (status, stderr) = run(&["--from", "mine.py"]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        fs::read_to_string(place.folder("work/scrub-mine/repro_mine.py"))
            .unwrap()
            .contains("torch.stack([])"),
        "{stderr}"
    );
    let (status, stderr) = run(&["--from", "saved.json", "--trust"]);
    assert!(
        status == Some(0) && stderr.contains("the comment would be"),
        "{stderr}"
    );
    // A stranger's script, and nobody to ask.
    let (status, stderr) = run(&["--from", "saved.json"]);
    assert!(status == Some(6) && stderr.contains("--trust"), "{stderr}");
    let (status, stderr) = run(&["--from", "two.json", "--trust"]);
    assert!(
        status == Some(1) && stderr.contains("code 2 of 2") && stderr.contains("--pick N"),
        "{stderr}"
    );
    let (status, stderr) = run(&["--from", "two.json", "--trust", "--pick", "2"]);
    assert!(
        status == Some(1) && stderr.contains("DifferentError"),
        "{stderr}"
    );
    assert!(place.server.calls().is_empty());
}

#[test]
fn an_interrupted_scrub_continues() {
    if !has_gh("cut short") {
        return;
    }
    let place = place(BODY);
    // Its runs are remembered: the second scrub starts the interpreter only for what the first had
    // not run.
    assert_eq!(place.run(&BROKEN, &["--dry-run"]).status.code(), Some(0));
    let state = fs::read_to_string(place.folder("work/scrub-7/state.json")).unwrap();
    let started = Instant::now();
    assert_eq!(place.run(&BROKEN, &["--dry-run"]).status.code(), Some(0));
    assert_eq!(
        fs::read_to_string(place.folder("work/scrub-7/state.json")).unwrap(),
        state
    );
    assert!(started.elapsed() < Duration::from_secs(60));

    // Killed between the comment and the end: the subscription is restored by the next.
    place.server.world.lock().unwrap().delay = Duration::from_secs(20);
    let mut child = place
        .command(&BROKEN, &["--post"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while place.server.world.lock().unwrap().comments.is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.server.world.lock().unwrap().subscription = "SUBSCRIBED".to_owned();
    let output = place.run(&BROKEN, &["--post"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("your subscription is Unsubscribed again"),
        "{stderr}"
    );
    let world = place.server.world.lock().unwrap();
    assert_eq!(
        (world.comments.len(), world.subscription.as_str()),
        (1, "UNSUBSCRIBED"),
        "{stderr}"
    );
}

/// Makes a wheel of a package that is one line of code.
const WHEEL: &str = "import sys, zipfile\n\
     with zipfile.ZipFile('extra_thing-1.0-py3-none-any.whl', 'w') as it:\n    \
     it.writestr('extra_thing.py', 'def noise():\\n    return 3\\n')\n    \
     it.writestr('extra_thing-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: \
     extra-thing\\nVersion: 1.0\\n')\n    it.writestr('extra_thing-1.0.dist-info/WHEEL', \
     'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n    \
     it.writestr('extra_thing-1.0.dist-info/RECORD', '')\n";

#[test]
fn packages_are_installed_on_top_of_those_of_the_interpreter() {
    if !has_gh("packages") {
        return;
    }
    let python = newest().unwrap();
    if !command(python)
        .args(["-c", "import ensurepip"])
        .output()
        .unwrap()
        .status
        .success()
    {
        return skip("packages", "this CPython has no `ensurepip`");
    }
    let place = place(&SMALL.replace(
        "torch.stack",
        "import extra_thing\nprint(extra_thing.noise())\ntorch.stack",
    ));
    let made = command(python)
        .args(["-c", WHEEL])
        .current_dir(place.folder("home"))
        .status()
        .unwrap();
    assert!(made.success());
    let run = |args: &[&str]| {
        // Its `torch` is in a virtual environment.
        let mut command = place.command(&BROKEN, args);
        let output = command
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", place.folder("home"))
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (
            output.status.code(),
            place.report_if_any()["end"].clone(),
            stderr,
        )
    };
    let (status, end, stderr) = run(&["--dry-run"]);
    assert!(status == Some(5) && end == "MissingPackages", "{stderr}");
    assert!(stderr.contains("--with extra_thing"), "{stderr}");

    let (status, _, stderr) = run(&["--dry-run", "--with", "no-such-thing"]);
    assert!(
        status == Some(5) && stderr.contains("could not install no-such-thing"),
        "{stderr}"
    );
    assert!(
        stderr.contains("No matching distribution") && stderr.contains("hint:"),
        "{stderr}"
    );

    for _ in 0..2 {
        let (status, end, stderr) = run(&["--post", "--with", "extra-thing==1.0"]);
        assert!(status == Some(0) && end == "AlreadyMinimal", "{stderr}");
        assert!(stderr.contains("run with extra-thing==1.0"), "{stderr}");
    }
    assert_eq!(place.server.world.lock().unwrap().comments.len(), 1);
    // The user's own environment is as it was.
    assert!(
        !command(&*BROKEN)
            .args(["-c", "import extra_thing"])
            .output()
            .unwrap()
            .status
            .success()
    );
}

/// An issue that asks for a feature, and holds a script that fails.
fn wish() -> Place {
    Place::new(World::new(issue(
        "[Feature Request] stack of nothing",
        SMALL,
    )))
}

#[test]
fn the_kind_of_an_issue_can_be_given() {
    if !has_gh("--assume") {
        return;
    }
    let place = wish();
    let output = place.run(&BROKEN, &["--post", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["end"], &report["plan"][0]["state"]),
        (&"NotABug".into(), &"done".into())
    );
    assert_eq!(
        place.server.world.lock().unwrap().label_names(),
        ["feature"]
    );

    let place = wish();
    let output = place.run(&BROKEN, &["--post", "--json", "--assume", "bug"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["end"], &report["plan"][0]["state"]),
        (&"AlreadyMinimal".into(), &"done".into())
    );
    assert_eq!(place.server.world.lock().unwrap().comments.len(), 1);
}

#[test]
fn an_issue_can_be_named_with_and_without_its_repository() {
    if !has_gh("--repo") {
        return;
    }
    let place = wish();
    let run = |issue: &[&str]| {
        let output = place
            .command_for(issue, &BROKEN, &["--dry-run"])
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    for issue in [
        ["#7", "--repo", "o/r"].as_slice(),
        &["o/r#7"],
        &["https://github.com/o/r/issues/7"],
        &[
            "https://github.com/o/r/issues/7#issuecomment-12",
            "--repo",
            "o/r",
        ],
    ] {
        let (status, stderr) = run(issue);
        assert!(
            status == Some(0) && stderr.contains("fetching o/r#7"),
            "{issue:?}: {stderr}"
        );
    }
    for (issue, status, said) in [
        (
            ["7", "--repo", "o/other"].as_slice(),
            5,
            "--repo OWNER/NAME",
        ),
        (&["o/r#7", "--repo", "o/other"], 2, "leave `--repo` out"),
        (
            &["https://github.com/o/r/pull/7"],
            2,
            "a pull request, not an issue",
        ),
        (
            &["https://example.com/o/r/issues/7"],
            2,
            "by its number or URL",
        ),
        (&["seven"], 2, "by its number or URL"),
        (&["0"], 2, "by its number or URL"),
    ] {
        let (seen, stderr) = run(issue);
        assert!(
            seen == Some(status) && stderr.contains(said),
            "{issue:?}: {stderr}"
        );
    }
}
