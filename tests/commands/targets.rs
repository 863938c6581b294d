//! What can be given in place of a script: standard input, a module.

use std::{fs::File, process::Stdio};

use super::{NOISY, Place, SIGNATURE, situations::shows};
use crate::support::snapshot;

/// A package whose command fails deep inside, with a warning where it is run from another place.
fn shop(place: &Place) {
    place.file("shop/__init__.py", "LOADED = ['shop']\n");
    place.file(
        "shop/core.py",
        "def limit(rows, count):\n    return {row: rows[row] for row in list(rows)[:count]}\n",
    );
    place.file("shop/cli.py", CLI);
}

const CLI: &str = "\
'''The command.'''
import json, sys
from . import LOADED
from .core import limit


def build(count):
    rows = {1: {2}, 3: {4}}
    print('rows', LOADED)
    return json.dumps(limit(rows, count))


if __name__ == '__main__':
    if sys.argv[1:2] != ['build']:
        sys.exit('usage')
    build(int(sys.argv[2]))
";

#[test]
fn a_script_on_standard_input_leaves_on_standard_output() {
    let place = Place::new();
    let script = place.file("x.txt", NOISY);
    let before = snapshot(&place.work());
    let reduce = |args: &[&str]| {
        let mut command = place.command(args);
        command.stdin(Stdio::from(File::open(&script).unwrap()));
        command.output().unwrap()
    };
    let output = reduce(&["-", "-s", SIGNATURE]);
    let result = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(
        result.contains("json.dumps(") && !result.contains("unused"),
        "{result}"
    );
    assert_eq!(snapshot(&place.work()), before);
    assert!(reduce(&["-", "-o", "y.py"]).status.success());
    assert_eq!(place.read("y.py"), result);
    let check = reduce(&["check", "-", "-n", "1"]);
    assert!(String::from_utf8_lossy(&check.stdout).contains(SIGNATURE));
    assert!(place.scratch_is_empty());
}

#[test]
fn each_run_reads_the_input_from_its_beginning() {
    let place = Place::new();
    place.file(
        "x.py",
        "import sys\nnoise = 1\nname = input()\nrest = sys.stdin.read()\n\
         if name == 'ada' and rest == 'left\\nright\\n':\n    raise KeyError(name)\n",
    );
    place.file("in.txt", "ada\nleft\nright\n");
    for runner in ["warm", "cold"] {
        let args = ["x.py", "--stdin", "in.txt", "-s", "KeyError: 'ada'"];
        let args = [&args[..], &["--runner", runner, "--no-journal"]].concat();
        let shown = shows(&place, &args, 0, &["confirmed by 3 fresh runs", "in.txt"]);
        assert!(!place.read("x.min.py").contains("noise"), "{shown}");
    }
    shows(
        &place,
        &["x.py"],
        1,
        &["standard input, which is empty", "--stdin FILE"],
    );
    let missing = ["x.py", "--stdin", "none.txt"];
    shows(&place, &missing, 2, &["none.txt", "--stdin FILE"]);
}

#[test]
fn a_module_is_run_as_python_does() {
    let place = Place::new();
    shop(&place);
    let before = snapshot(&place.work());
    let args = [
        "-m", "shop.cli", "-s", SIGNATURE, "--diff", "--", "build", "1",
    ];
    shows(
        &place,
        &args,
        0,
        &["module: shop.cli is `shop/cli.py`", "--- -m shop.cli"],
    );
    let result = place.read("shop_cli.min.py");
    assert!(
        result.contains("json.dumps(") && !result.contains("rows'"),
        "{result}"
    );
    std::fs::remove_file(place.work().join("shop_cli.min.py")).unwrap();
    assert_eq!(snapshot(&place.work()), before);

    place.file("tool/__init__.py", "");
    place.file("tool/__main__.py", "from . import nothing\n");
    let check = ["check", "-m", "tool", "-n", "1"];
    shows(&place, &check, 0, &["ImportError: cannot import name"]);
}

#[test]
fn the_environment_of_the_project_runs_its_scripts() {
    let place = Place::new();
    place.file("pyproject.toml", "[project]\nname = 'x'\n");
    place.file(
        "tools/x.py",
        "import sys\nnoise = 1\nraise KeyError('.venv' in sys.prefix)\n",
    );
    let made = place.root.path().join("work/.venv");
    let output = crate::support::command("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&made)
        .output();
    if !output.is_ok_and(|output| output.status.success()) {
        crate::support::skip(
            "environments of projects",
            "no environment can be made here",
        );
        return;
    }
    shows(
        &place,
        &["check", "tools/x.py", "-n", "1"],
        0,
        &[
            "/work/.venv/bin/python`, the environment of the project (CPython 3",
            "KeyError: True",
        ],
    );
    let named = ["check", "tools/x.py", "-n", "1", "-p", "python3"];
    let shown = shows(&place, &named, 0, &["KeyError: False"]);
    assert!(!shown.contains(".venv"), "{shown}");
}

#[test]
fn metadata_of_a_script_choose_its_interpreter() {
    let place = Place::new();
    let script = |needs: &str| {
        format!(
            "# /// script\n# requires-python = \">=3.8\"\n# dependencies = [{needs}]\n# ///\n1 / 0\n"
        )
    };
    place.file("x.py", script(""));
    shows(
        &place,
        &["check", "x.py", "-n", "1"],
        0,
        &[
            "which fits the metadata of the script (CPython 3",
            "ZeroDivisionError",
        ],
    );
    place.file("x.py", script("\"no-such-package>=1\""));
    shows(
        &place,
        &["check", "x.py", "-n", "1"],
        5,
        &["`no-such-package` is not installed", "uv sync --script"],
    );
    place.file("x.py", "# /// script\n# dependencies = 3\n# ///\n1 / 0\n");
    shows(
        &place,
        &["x.py"],
        2,
        &["the metadata of the script cannot be read"],
    );
}

#[test]
fn modules_that_cannot_be_run() {
    let place = Place::new();
    shop(&place);
    for (name, what) in [
        ("shop.clo", "there is no module `shop.clo`"),
        ("shot.cli", "there is no module `shot`"),
        ("shop", "a package without a module `__main__`"),
        ("math", "has no Python source"),
        ("shop/cli.py", "is not a module name"),
    ] {
        let before = snapshot(&place.work());
        shows(&place, &["-m", name], 2, &[what, "hint:"]);
        assert_eq!(snapshot(&place.work()), before);
    }
    let both = ["x.py", "-m", "shop.cli"];
    shows(&place, &both, 2, &["cannot be used with"]);
    let passes = ["-m", "shop.core"];
    let hand = "-m shop.core";
    shows(&place, &passes, 1, &["by hand: cd [..]/work &&", hand]);
}
