//! Bad input: a clear error, a hint, the right exit status, and nothing written.

use super::{NOISY, Place};
use crate::support::snapshot;

/// Runs and checks that the folder stays as it is; returns what was shown.
#[track_caller]
fn refused(place: &Place, args: &[&str], status: i32, fragments: &[&str]) {
    let before = snapshot(&place.work());
    let shown = place.shown(args);
    assert!(shown.starts_with(&format!("status: {status}\n")), "{shown}");
    for fragment in fragments {
        assert!(shown.contains(fragment), "`{fragment}` is not in\n{shown}");
    }
    assert!(
        shown.contains("hint:") || shown.contains("tip:") || shown.contains("--help"),
        "no hint in\n{shown}"
    );
    assert_eq!(snapshot(&place.work()), before);
    assert!(place.scratch_is_empty());
}

#[test]
fn wrong_flags() {
    let place = Place::new();
    place.file("x.py", NOISY);
    refused(
        &place,
        &["x.py", "--signatur", "E"],
        2,
        &["--signatur", "a similar argument exists: '--signature'"],
    );
    refused(&place, &[], 2, &["SCRIPT"]);
    refused(
        &place,
        &["reveiw", "x.py"],
        2,
        &["there is a command `review`"],
    );
    refused(&place, &["bisekt"], 2, &["there is a command `bisect`"]);
    refused(
        &place,
        &["x.py", "--passes", "drop-coments"],
        2,
        &["there is no pass `drop-coments`", "drop-comments"],
    );
    refused(
        &place,
        &["x.py", "--timeout", "0"],
        2,
        &["longer than zero"],
    );
    refused(&place, &["x.py", "--memory", "much"], 2, &["--memory"]);
    refused(&place, &["x.py", "--env", "X"], 2, &["NAME=VALUE"]);
    refused(
        &place,
        &["x.py", "-s", "E", "--test", "true"],
        2,
        &["cannot be used with"],
    );
    refused(
        &place,
        &["passes", "explain", "unwrap-block"],
        2,
        &["there is no pass `unwrap-block`", "unwrap-blocks"],
    );
}

#[test]
fn signatures_that_cannot_match() {
    let place = Place::new();
    place.file("x.py", NOISY);
    for (signature, why) in [
        ("", "it is empty"),
        ("exit:999", "0 to 255"),
        ("/(/", "unclosed group"),
        ("stdout:", "no text"),
    ] {
        refused(
            &place,
            &["x.py", "--signature", signature],
            2,
            &["cannot be a signature", why],
        );
    }
}

#[test]
fn files_that_are_no_scripts() {
    let place = Place::new();
    refused(
        &place,
        &["gone.py"],
        2,
        &[
            "could not read `gone.py`",
            "cause: No such file or directory",
        ],
    );
    refused(&place, &["."], 2, &["`.` is a folder"]);
    place.file("empty.py", "");
    refused(&place, &["empty.py"], 2, &["is empty"]);
    place.file("comment.py", "# nothing\n");
    refused(&place, &["comment.py"], 2, &["is empty"]);
    place.file("broken.py", "x = 1\ndef f(:\n    pass\n");
    refused(
        &place,
        &["broken.py"],
        2,
        &[
            "`broken.py` is not Python: 2:7",
            "  2 | def f(:",
            "            ^",
        ],
    );
    place.file("two.py", "import os\nprint 'old'\n");
    refused(&place, &["two.py"], 2, &["it looks like Python 2"]);
    place.file("binary.py", b"x = '\xff\xfe'\n");
    refused(
        &place,
        &["binary.py"],
        2,
        &["is not Python source", "the bytes on line 1 are not UTF-8"],
    );
}

#[test]
fn scripts_that_do_not_show_the_bug() {
    let place = Place::new();
    place.file("fine.py", "print('all is well')\n");
    refused(
        &place,
        &["fine.py"],
        1,
        &[
            "no signature was given, and none can be derived",
            "exit 0 (3 of 3 runs)",
            "by hand: cd",
        ],
    );
    refused(
        &place,
        &["fine.py", "--signature", "ValueError: x"],
        1,
        &[
            "does not show the bug",
            "expected: ValueError: x",
            "seen:     exit 0 (3 of 3 runs)",
            "stdout:\n  all is well",
            "stderr:  (empty)",
        ],
    );
    place.file(
        "other.py",
        "import sys\nprint('out')\nraise KeyError('x')\n",
    );
    refused(
        &place,
        &["other.py", "--signature", "ValueError: x", "--", "an arg"],
        1,
        &[
            "expected: ValueError: x",
            "seen:     exit 1, KeyError: 'x' (3 of 3 runs)",
            "other.py 'an arg'",
            "KeyError: 'x'",
        ],
    );
    place.file("test.sh", "exit 1\n");
    refused(
        &place,
        &["fine.py", "--test", "sh test.sh"],
        1,
        &["finds the script interesting in 0 of 3 runs"],
    );
}

#[test]
fn bugs_that_show_too_rarely() {
    let place = Place::new();
    // The sign depends on the folder that each run has of its own.
    place.file(
        "rare.py",
        "import os\n\
         n = int(os.path.basename(os.path.dirname(os.getcwd())).split('-')[1])\n\
         if n % 3: raise ValueError('odd')\n",
    );
    refused(
        &place,
        &[
            "rare.py",
            "--signature",
            "ValueError: odd",
            "-j",
            "1",
            "--min-rate",
            "0.6",
        ],
        4,
        &[
            "the bug shows in 13 of 20 runs",
            "seen:     exit 1, ValueError: odd (13 of 20 runs)",
        ],
    );
}

#[test]
fn interpreters_that_do_not_work() {
    let place = Place::new();
    place.file("x.py", NOISY);
    refused(
        &place,
        &["x.py", "--python", "/nonexistent/python"],
        5,
        &["no interpreter at `/nonexistent/python`"],
    );
    refused(
        &place,
        &["x.py", "--python", "no-such-python"],
        5,
        &["no interpreter at `no-such-python`"],
    );
    refused(
        &place,
        &["x.py", "--python", "/bin/ls"],
        5,
        &["`/bin/ls` does not work as a Python interpreter"],
    );
    refused(
        &place,
        &["x.py", "--python", "x.py"],
        5,
        &["no interpreter at `x.py`"],
    );
    refused(
        &place,
        &["x.py", "--python", "./x.py"],
        5,
        &["does not work as a Python interpreter", "denied"],
    );
    refused(
        &place,
        &["x.py", "--test", "./gone.sh"],
        2,
        &["there is no test `./gone.sh`"],
    );
    refused(
        &place,
        &["x.py", "--test", "'unclosed"],
        2,
        &["is not a command"],
    );
    place.file("test.sh", "exit 0\n");
    refused(
        &place,
        &["x.py", "--test", "./test.sh"],
        5,
        &["could not start", "test.sh"],
    );
}

#[test]
fn outputs_that_can_not_be_written() {
    let place = Place::new();
    place.file("x.py", NOISY);
    refused(
        &place,
        &["x.py", "-o", "gone/out.py"],
        2,
        &["could not write `", "No such file or directory"],
    );
    refused(&place, &["x.py", "-o", "."], 2, &["`.` is a folder"]);
    refused(
        &place,
        &["x.py", "-o", "x.py"],
        2,
        &["is the script itself"],
    );
    std::os::unix::fs::symlink("x.py", place.work().join("link.py")).unwrap();
    refused(
        &place,
        &["x.py", "-o", "link.py"],
        2,
        &["is the script itself"],
    );
    refused(
        &place,
        &["x.py", "--report", "/proc/report.json"],
        2,
        &["could not write `/proc/report.json`"],
    );
}

#[test]
fn corpora_that_are_none() {
    let place = Place::new();
    refused(
        &place,
        &["bench", "gone"],
        2,
        &["could not read the corpus"],
    );
    refused(&place, &["bench", "."], 2, &["holds no case"]);
}
