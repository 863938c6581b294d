//! `minrepro stale` by the real binary, on a checkout that is made here: 40 marks of all kinds, 15
//! of them stale.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use crate::support::{command, skip, snapshot, with_package};

const PASSES: &str = "pass";
const FAILS: &str = "self.assertEqual(1, 2)";
const FLAKY: &str =
    "self.assertTrue(int(os.environ['MINREPRO_ARTIFACTS'].split('run-')[1].split('/')[0]) % 2)";

/// A class of tests, each with its mark and its body. Those that pass are stale; a `!` before the
/// mark says that it is not, whatever the body does.
fn class(name: &str, base: &str, tests: &[(&str, &str)]) -> (String, Vec<String>) {
    let mut text = format!("class {name}{base}:\n");
    let mut stale = Vec::new();
    for (number, (mark, body)) in tests.iter().enumerate() {
        let (mark, is_other) = mark
            .strip_prefix('!')
            .map_or((*mark, false), |mark| (mark, true));
        let _ = writeln!(
            text,
            "    {mark}\n    def test_{number}(self):\n        {body}\n"
        );
        if *body == PASSES && !is_other {
            stale.push(format!("{name}.test_{number}"));
        }
    }
    (text, stale)
}

const HELPER: &str = "\
import os, unittest

ON = os.environ.get('PYTORCH_TEST_WITH_DYNAMO') == '1'
HERE = os.path.dirname(os.path.abspath(__file__))

def xfailIfTorchDynamo(test):
    return unittest.expectedFailure(test) if ON else test

class TestCase(unittest.TestCase):
    def __init_subclass__(cls):
        for name, test in list(vars(cls).items()):
            for folder, mark in [('dynamo_expected_failures', unittest.expectedFailure),
                                 ('dynamo_skips', unittest.skip('listed'))]:
                listed = os.path.join(HERE, folder, cls.__name__ + '.' + name)
                if ON and os.path.exists(listed):
                    setattr(cls, name, mark(test))
";

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::File::create(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

/// Writes the checkout; the tests whose marks are stale.
fn checkout(root: &Path) -> Vec<String> {
    let mut stale = unittests(root);
    stale.extend(pytests(root));
    stale.extend(listed(root));
    stale.sort();
    stale
}

/// Marks of unittest: 19, of which 8 are stale.
fn unittests(root: &Path) -> Vec<String> {
    let expected = "@unittest.expectedFailure";
    let skipped = "@unittest.skip('https://github.com/o/r/issues/1234')";
    let condition = "@unittest.skipIf(sys.version_info >= (3,), 'too new')";
    let (unit, mut stale) = class(
        "TestUnit",
        "(unittest.TestCase)",
        &[
            (expected, PASSES),
            (expected, FAILS),
            (expected, PASSES),
            (expected, FAILS),
            (expected, PASSES),
            (expected, "raise KeyError"),
            (skipped, PASSES),
            (skipped, FAILS),
            (skipped, PASSES),
            (skipped, FAILS),
            (skipped, "import no_such_module"),
            (skipped, FLAKY),
            (condition, PASSES),
            (condition, FAILS),
            (condition, PASSES),
            (condition, FAILS),
            (
                "!@unittest.skipIf(sys.version_info < (3,), 'too old')",
                PASSES,
            ),
        ],
    );
    let whole = "@unittest.skip('all of them')\nclass TestWhole(unittest.TestCase):\n    \
                 def test_0(self):\n        pass\n    def test_1(self):\n        pass\n\n\
                 @unittest.skip('some of them')\nclass TestPart(unittest.TestCase):\n    \
                 def test_0(self):\n        pass\n    def test_1(self):\n        self.fail()\n\n";
    stale.push("TestWhole".to_owned());
    write(
        root,
        "tests/test_unit.py",
        &format!("import os, sys, unittest\n\n{unit}\n{whole}"),
    );
    stale
}

/// Marks of pytest: 11, of which 4 are stale.
fn pytests(root: &Path) -> Vec<String> {
    let xfail = "@pytest.mark.xfail(reason='gh-77')";
    let (pytests, stale) = class(
        "TestPytest",
        "",
        &[
            (xfail, PASSES),
            (xfail, "assert 0"),
            (xfail, PASSES),
            (xfail, "assert 0"),
            ("@pytest.mark.xfail(raises=KeyError)", "raise KeyError('a')"),
            (
                "@pytest.mark.xfail(\n        reason='a ValueError',\n    )",
                "raise OSError",
            ),
            ("@pytest.mark.skipif(True, reason='x')", PASSES),
            ("@pytest.mark.skipif(True, reason='x')", "assert 0"),
            ("!@pytest.mark.skipif(False, reason='x')", PASSES),
            ("@pytest.mark.skip", PASSES),
            ("@pytest.mark.skip", "assert 0"),
        ],
    );
    write(
        root,
        "tests/test_pytest.py",
        &format!("import pytest\n\n{pytests}"),
    );
    stale
}

/// Marks that count with Dynamo alone: 10, of which 3 are stale.
fn listed(root: &Path) -> Vec<String> {
    let dynamo = "@xfailIfTorchDynamo";
    let (marked, mut stale) = class(
        "TestMarked",
        "(TestCase)",
        &[(dynamo, PASSES), (dynamo, FAILS), (dynamo, FAILS)],
    );
    let listed: Vec<(&str, &str)> = [PASSES, FAILS, FAILS, FAILS, PASSES, FAILS, FAILS]
        .iter()
        .map(|body| ("", *body))
        .collect();
    let (listed, more) = class("TestListed", "(TestCase)", &listed);
    stale.extend(more);
    let head = "from dynamo_helper import TestCase, xfailIfTorchDynamo\n\n";
    write(
        root,
        "tests/test_listed.py",
        &format!("{head}{marked}\n{listed}"),
    );
    write(root, "tests/dynamo_helper.py", HELPER);
    for number in 0..7 {
        let folder = if number < 4 {
            "dynamo_expected_failures"
        } else {
            "dynamo_skips"
        };
        write(
            root,
            &format!("tests/{folder}/TestListed.test_{number}"),
            "",
        );
    }
    stale
}

fn minrepro(args: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let output = command(env!("CARGO_BIN_EXE_minrepro"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn all_stale_marks_of_a_checkout_are_found_and_no_other() {
    let Some(python) = with_package("pytest") else {
        return skip("stale", "no interpreter with pytest in minrepro's cache");
    };
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("checkout");
    let expected = checkout(&root);
    assert_eq!(expected.len(), 15);
    let before = snapshot(&root);
    let args = [
        "stale",
        "checkout",
        "--json",
        "-p",
        python.to_str().unwrap(),
    ];
    let (status, stdout, stderr) = minrepro(&args, place.path());
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(snapshot(&root), before, "the checkout was changed");
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let marks = found["marks"].as_array().unwrap();
    assert_eq!(marks.len(), 40, "{stderr}");
    let name = |mark: &serde_json::Value| {
        let parts = ["class", "test"].map(|part| mark[part].as_str().unwrap().to_owned());
        parts.join(".").trim_end_matches('.').to_owned()
    };
    let mut stale: Vec<String> = marks
        .iter()
        .filter(|mark| mark["state"] == "stale")
        .map(name)
        .collect();
    stale.sort();
    assert_eq!(stale, expected, "{stderr}");
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for mark in marks {
        *states.entry(mark["state"].as_str().unwrap()).or_default() += 1;
    }
    let counts = [
        ("fails_differently", 1),
        ("flaky", 1),
        ("holds", 21),
        ("inactive", 2),
        ("stale", 15),
    ];
    assert_eq!(states.into_iter().collect::<Vec<_>>(), counts, "{stderr}");
    // The patch is one that git takes, and it leaves the other marks.
    let patch = fs::read_to_string(place.path().join("stale.patch")).unwrap();
    assert_eq!(found["patch"], patch.as_str());
    let git = command("git")
        .args(["apply", "../stale.patch"])
        .current_dir(&root)
        .output();
    if git.as_ref().is_ok_and(|output| output.status.success()) {
        let left = fs::read_to_string(root.join("tests/test_unit.py")).unwrap();
        assert_eq!(left.matches("expectedFailure").count(), 3);
        assert!(!root.join("tests/dynamo_skips/TestListed.test_4").exists());
    } else {
        panic!("git does not take the patch: {git:?}\n{patch}");
    }
}

#[test]
fn marks_of_an_issue_are_removed_if_asked() {
    let Some(python) = with_package("pytest") else {
        return skip(
            "stale --apply",
            "no interpreter with pytest in minrepro's cache",
        );
    };
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("checkout");
    checkout(&root);
    let args = [
        "stale", "checkout", "--issue", "1234", "--tests", "unit", "--apply", "-p",
    ];
    let args = [&args[..], &[python.to_str().unwrap()]].concat();
    let (status, stdout, stderr) = minrepro(&args, place.path());
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stdout.contains("passes now         2\n"),
        "{stdout}{stderr}"
    );
    let left = fs::read_to_string(root.join("tests/test_unit.py")).unwrap();
    assert_eq!(left.matches("issues/1234").count(), 4);
    assert_eq!(left.matches("expectedFailure").count(), 6);
    for (folder, said) in [
        ("no-such-folder", "there is no folder"),
        ("checkout/tests/test_unit.py", "is a file"),
    ] {
        let (status, _, stderr) = minrepro(&["stale", folder], place.path());
        assert_eq!(status, Some(2), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
    }
}
