//! Situations in which a result would not be true, or is not trusted although it is.

use super::Place;
use crate::support::{skip, snapshot};

/// Runs, and checks the exit status and what standard error holds.
#[track_caller]
pub(super) fn shows(place: &Place, args: &[&str], status: i32, fragments: &[&str]) -> String {
    let shown = place.shown(args);
    assert!(shown.starts_with(&format!("status: {status}\n")), "{shown}");
    for fragment in fragments {
        assert!(shown.contains(fragment), "`{fragment}` is not in\n{shown}");
    }
    shown
}

#[test]
fn white_space_of_a_pasted_message_need_not_be_that_of_the_real_one() {
    let place = Place::new();
    let script = "import sys\nnoise = 1\nraise ValueError('bad size 3\\n  of the\\ttable')\n";
    place.file("x.py", script);
    for pasted in [
        "ValueError: bad size 3 of the table",
        "bad size 3   of the table",
        "ValueError:\nbad size 3\nof the table",
        "size … of  the table",
    ] {
        shows(&place, &["check", "x.py", "-n", "2", "-s", pasted], 0, &[]);
    }
    for other in ["bad size 3of the table", "bad size 3 of\nthe tab le"] {
        shows(&place, &["check", "x.py", "-n", "2", "-s", other], 1, &[]);
    }
    shows(
        &place,
        &["x.py", "-s", "ValueError: bad size 3 of the table"],
        0,
        &["confirmed by 3 fresh runs"],
    );
    assert!(!place.read("x.min.py").contains("noise"));
}

#[test]
fn a_message_that_begins_with_a_line_break_is_matched_and_shown() {
    let place = Place::new();
    place.file("x.py", "raise ValueError('\\n  bad size of the table')\n");
    shows(
        &place,
        &["check", "x.py", "-n", "2"],
        0,
        &["ValueError: bad size of the table"],
    );
    shows(
        &place,
        &["check", "x.py", "-n", "2", "-s", "ValueError: bad size of"],
        0,
        &[],
    );
    shows(
        &place,
        &["x.py", "-s", "ValueError: good size"],
        1,
        &["seen:     exit 1, ValueError: bad size of the table"],
    );
}

/// Whether runs can be confined in full here; says so loudly if not.
fn is_confined(test: &str) -> bool {
    let place = Place::new();
    place.file("x.py", "1 / 0\n");
    let is_whole = place
        .run(&["check", "x.py", "-n", "1", "--sandbox", "require"])
        .status
        .success();
    if !is_whole {
        skip(test, "runs cannot be confined in full here");
    }
    is_whole
}

#[test]
fn what_confinement_forbids_is_never_the_bug() {
    if !is_confined("what_confinement_forbids_is_never_the_bug") {
        return;
    }
    let place = Place::new();
    for (script, option) in [
        (
            "from urllib.request import urlopen\ndata = urlopen('https://host.invalid/a')\n{}['x']\n",
            "`--allow-network`",
        ),
        (
            "import socket\ns = socket.socket()\ns.connect(('192.0.2.1', 9))\n{}['x']\n",
            "`--allow-network`",
        ),
        (
            "from pathlib import Path\nPath('~/.cache/mine').expanduser().mkdir()\n{}['x']\n",
            "`--allow-write [..]/home",
        ),
        (
            "import os\ntry:\n    os.mkdir(os.environ['HOME'] + '/a')\nexcept OSError as error:\n    raise KeyError('x') from error\n",
            "`--allow-write [..]/home",
        ),
    ] {
        place.file("x.py", script);
        let why = "error: the script does not reach its bug: confinement keeps it from";
        shows(&place, &["x.py"], 1, &[why, option, "--sandbox off"]);
        shows(&place, &["check", "x.py", "-n", "2"], 1, &[why, option]);
        shows(
            &place,
            &["x.py", "-s", "no such words"],
            1,
            &[
                "the script does not show the bug",
                "confinement may be the reason",
            ],
        );
        assert!(!place.work().join("x.min.py").exists());
    }
}

#[test]
fn a_bug_that_takes_threads_is_not_looked_for_in_vain() {
    let place = Place::new();
    place.file("mine.py", "");
    place.file("x.py", "import mine\nprint(1)\n");
    let more = "if it takes several threads: `--env OMP_NUM_THREADS=4`";
    shows(&place, &["x.py", "-s", "no such words"], 1, &[more]);
    let chosen = ["x.py", "-s", "no such words", "--env", "OMP_NUM_THREADS=2"];
    let said = shows(&place, &chosen, 1, &["give a signature that fits"]);
    assert!(!said.contains(more), "{said}");
}

#[test]
fn a_candidate_that_confinement_stops_does_not_show_the_bug() {
    if !is_confined("a_candidate_that_confinement_stops_does_not_show_the_bug") {
        return;
    }
    let place = Place::new();
    let script = "import os\npath = os.getcwd() + '/a'\nos.mkdir(path)\nos.mkdir(path + '/b')\nos.rmdir(path)\n";
    place.file("x.py", script);
    shows(&place, &["x.py", "-s", "OSError"], 0, &[]);
    let result = place.read("x.min.py");
    assert!(result.contains("os.rmdir("), "{result}");
}

#[test]
fn allowed_folders_are_written_to_in_copies_and_caches_of_models_are_too() {
    if !is_confined("allowed_folders_are_written_to_in_copies_and_caches_of_models_are_too") {
        return;
    }
    let place = Place::new();
    let mine = place.root.path().join("home/mine");
    let models = place.root.path().join("home/.cache/huggingface");
    for folder in [&mine, &models] {
        std::fs::create_dir_all(folder).unwrap();
        std::io::Write::write_all(
            &mut std::fs::File::create(folder.join("old")).unwrap(),
            b"1",
        )
        .unwrap();
    }
    let script = "import os\nimport pathlib\nnoise = 1\n\
        for name in ['mine', '.cache/huggingface']:\n    \
            folder = pathlib.Path.home() / name\n    \
            assert (folder / 'old').read_text() == '1' and not (folder / 'new').exists()\n    \
            (folder / 'old').write_text('2')\n    \
            (folder / 'new').mkdir()\n\
        raise KeyError((folder / 'old').read_text() + str(os.listdir(folder)))\n";
    place.file("x.py", script);
    let before = snapshot(&place.root.path().join("home"));
    shows(&place, &["x.py"], 1, &["--allow-write"]);
    let allowed = ["x.py", "--allow-write", mine.to_str().unwrap()];
    shows(
        &place,
        &[&["check", "-n", "2"], &allowed[..]].concat(),
        0,
        &["KeyError"],
    );
    shows(
        &place,
        &[&allowed[..], &["--runner", "warm", "--max-runs", "9"]].concat(),
        3,
        &["confirmed by 3 fresh runs"],
    );
    let home = snapshot(&place.root.path().join("home"));
    let theirs =
        |(path, _): &&(std::path::PathBuf, Vec<u8>)| !path.to_string_lossy().contains("minrepro");
    assert_eq!(
        home.iter().filter(theirs).collect::<Vec<_>>(),
        before.iter().filter(theirs).collect::<Vec<_>>()
    );
    assert!(place.scratch_is_empty());
    for (folder, why) in [
        ("gone", "there is no folder `gone`"),
        ("/", "a copy of `/`"),
    ] {
        shows(
            &place,
            &["x.py", "--allow-write", folder],
            2,
            &[why, "hint: name a folder"],
        );
    }
}

#[test]
fn the_network_is_open_where_it_is_allowed() {
    if !is_confined("the_network_is_open_where_it_is_allowed") {
        return;
    }
    let place = Place::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let script = format!(
        "import socket\nnoise = 1\nsocket.create_connection(('127.0.0.1', {port}))\nraise LookupError('connected to it')\n"
    );
    place.file("x.py", script);
    shows(
        &place,
        &["x.py"],
        1,
        &["a service outside", "`--allow-network`"],
    );
    for runner in ["cold", "warm"] {
        shows(
            &place,
            &["check", "x.py", "--allow-network", "--runner", runner],
            0,
            &["LookupError: connected to it"],
        );
        shows(
            &place,
            &[
                "x.py",
                "--allow-network",
                "--runner",
                runner,
                "--no-journal",
                "--max-runs",
                "4",
            ],
            3,
            &["LookupError: connected to it"],
        );
    }
}

#[test]
fn what_the_script_lacks_is_not_reduced_but_named() {
    let place = Place::new();
    for (script, status, what, hint) in [
        (
            "import no_such_package\n",
            5,
            "package `no_such_package`",
            "--python PATH",
        ),
        (
            "x = 1\nopen('data.csv')\n",
            1,
            "needs `data.csv`",
            "beside the script",
        ),
        (
            "import sys\nprint(sys.argv[1])\n",
            2,
            "wants arguments",
            "-- ARGS",
        ),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('n')\np.parse_args()\n",
            2,
            "wants arguments",
            "-- ARGS",
        ),
        ("n = int(input())\n", 1, "standard input", "--stdin FILE"),
        (
            "import os\nos.environ['NO_SUCH']\n",
            1,
            "variable `NO_SUCH`",
            "--env NO_SUCH=VALUE",
        ),
    ] {
        place.file("x.py", script);
        shows(&place, &["x.py"], status, &[what, hint]);
        shows(
            &place,
            &["x.py", "-s", "RuntimeError: expected scalar"],
            status,
            &[what, hint, "expected: RuntimeError: expected scalar"],
        );
        shows(&place, &["check", "x.py", "-n", "1"], status, &[what]);
        assert!(!place.work().join("x.min.py").exists(), "{script}");
    }
    place.file("x.py", "noise = 1\nimport no_such_package\n");
    shows(&place, &["x.py", "-s", "ModuleNotFoundError"], 0, &[]);
    assert_eq!(place.read("x.min.py"), "import no_such_package\n");
    let cell = r#"{"cells": [{"cell_type": "code", "source": ["1/0"]}], "nbformat": 4}"#;
    place.file("x.json", cell);
    shows(&place, &["x.json"], 2, &["is a notebook", ".ipynb"]);
}

#[test]
fn the_environment_of_the_user_is_kept_and_its_changes_are_said() {
    let place = Place::new();
    let library = place.root.path().join("library");
    std::fs::create_dir(&library).unwrap();
    std::io::Write::write_all(
        &mut std::fs::File::create(library.join("mine.py")).unwrap(),
        b"def f():\n    raise LookupError('found by the path')\n",
    )
    .unwrap();
    let script = "import mine, os\nnoise = 1\nassert 'MY_TOKEN' not in os.environ\nassert os.environ['OMP_NUM_THREADS'] == '3'\nassert os.environ['TORCH_LOGS'] == 'x'\nmine.f()\n";
    place.file("x.py", script);
    let mut command = place.command(&["x.py"]);
    command
        .env("PYTHONPATH", &library)
        .env("OMP_NUM_THREADS", "3")
        .env("TORCH_LOGS", "x")
        .env("MY_TOKEN", "t");
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.contains("LookupError: found by the path"),
        "{stderr}"
    );
    let said = "environment: yours with PYTHONHASHSEED=0; without MY_TOKEN\n";
    assert!(stderr.contains(said), "{stderr}");
    let verify = stderr
        .lines()
        .find_map(|line| line.strip_prefix("verify: "))
        .unwrap();
    assert!(
        verify.contains("&& env -u MY_TOKEN PYTHONHASHSEED=0 /"),
        "{verify}"
    );
    let by_hand = crate::support::command("sh")
        .args(["-c", verify])
        .env("PYTHONPATH", &library)
        .env("MY_TOKEN", "t")
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&by_hand.stderr).into_owned();
    assert!(seen.contains("LookupError: found by the path"), "{seen}");
}

#[test]
fn a_bug_of_the_scripts_own_is_said_to_be_one_and_what_is_named_is_kept() {
    let place = Place::new();
    let script = "rows = [3, 4]\nnoise = 1\n\n\ndef mean(values, count):\n    total = sum(values)\n    return total / count\n\n\nprint(mean(rows, 0))\n";
    place.file("x.py", script);
    let said = "nothing of a library is involved";
    shows(&place, &["x.py"], 0, &[said, "--keep NAME"]);
    let result = place.read("x.min.py");
    assert!(
        !result.contains("mean") && !result.contains("sum"),
        "{result}"
    );
    shows(
        &place,
        &[
            "x.py",
            "--keep",
            "mean",
            "--keep",
            "6",
            "--keep",
            "/rows, *0/",
        ],
        0,
        &["confirmed by 3 fresh runs"],
    );
    let result = place.read("x.min.py");
    for kept in ["def mean(", "total = sum(values)\n", "rows, 0"] {
        assert!(result.contains(kept), "{result}");
    }
    assert!(!result.contains("noise"), "{result}");
    for (keep, why) in [
        ("gone", "does not hold it"),
        ("99", "no text"),
        ("/(/", "regex"),
    ] {
        shows(
            &place,
            &["x.py", "--keep", keep],
            2,
            &[why, "hint: give a name"],
        );
    }
    place.file("y.py", super::NOISY);
    let shown = shows(&place, &["y.py", "-s", super::SIGNATURE], 0, &[]);
    assert!(!shown.contains(said), "{shown}");
}

#[test]
fn a_library_that_was_patched_voids_what_the_journal_remembers() {
    let place = Place::new();
    let library = place.root.path().join("library");
    let put = |text: &str| {
        std::fs::create_dir_all(library.join("mine")).unwrap();
        std::io::Write::write_all(
            &mut std::fs::File::create(library.join("mine/__init__.py")).unwrap(),
            text.as_bytes(),
        )
        .unwrap();
    };
    let broken = "def f(x):\n    raise LookupError('out of the table')\n";
    let patched = "def f(x):\n    if x > 2:\n        raise LookupError('out of the table')\n";
    let library_path = library.to_str().unwrap();
    place.file("by_path.py", "import mine\nnoise = 1\nmine.f(3)\n");
    place.file(
        "by_itself.py",
        format!(
            "import sys\nsys.path.append({library_path:?})\nimport mine\nnoise = 1\nmine.f(3)\n"
        ),
    );
    for (script, args) in [
        ("by_path.py", &["--runner", "cold"][..]),
        ("by_itself.py", &[]),
    ] {
        put(broken);
        let run = || {
            let args = [&[script, "-s", "LookupError: out of the table"], args].concat();
            let mut command = place.command(&args);
            if script == "by_path.py" {
                command.env("PYTHONPATH", library_path);
            }
            let output = command.output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{stderr}");
            stderr
        };
        run();
        let again = run();
        assert!(again.contains("verdicts are recalled"), "{again}");
        put(patched);
        let other = run();
        assert!(!other.contains("verdicts are recalled"), "{other}");
    }
}
