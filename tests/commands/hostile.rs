//! Scripts and folders that mean harm to minrepro itself, or to the terminal that it prints to.

use std::{
    fs,
    os::unix::fs::symlink,
    time::{Duration, Instant},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{NOISY, Place, SIGNATURE};
use crate::support::on_terminal;

/// Prints on both streams, and fails by, all that a terminal acts on.
const LOUD: &str = r"
import sys
evil = '\x1b]0;TITLE\x07\x1b[8m\x1b[2J\x1bPq\x1b\\\x9b31m\x9d0;T\x9c\x07\x08\x0d\u202e\u2066\u2028\x7f'
unused = 1
print(evil)
print(evil, file=sys.stderr)
class Loud(Exception):
    pass
raise Loud('first ' + evil + ' last')
";

/// What of a text a terminal would act on, other than colours, line ends and the moves of our own
/// progress.
fn raw(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let is_ours = |rest: &str| {
        let end = rest.find(|char: char| char.is_ascii_alphabetic());
        let (Some(inner), Some(end)) = (rest.strip_prefix('['), end) else {
            return false;
        };
        match &rest[end..=end] {
            // Bold, faint, the colours, and their end.
            "m" => inner[..end - 1].split(';').all(|style| {
                ["", "0", "1", "2", "31", "32", "33", "34", "35", "36"].contains(&style)
            }),
            "K" | "A" | "B" | "C" | "D" | "G" => true,
            _ => inner.starts_with('?'),
        }
    };
    let mut found = Vec::new();
    for (at, char) in text.char_indices() {
        let is_raw = match char {
            '\x1b' => !is_ours(&text[at + 1..]),
            '\n' | '\r' | '\t' => false,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' => true,
            char => char.is_control(),
        };
        if is_raw {
            let rest: String = text[at..].chars().take(12).collect();
            found.push(format!("{rest:?}"));
        }
    }
    found
}

#[test]
fn nothing_of_a_run_reaches_the_terminal_or_a_report_as_it_is() {
    let place = Place::new();
    place.file("x.py", LOUD);
    let common = [
        "x.py",
        "--no-journal",
        "--no-ablation",
        "--runner",
        "cold",
        "--passes",
        "drop-statements",
    ];
    for more in [
        // Another failure than is asked for: both outputs are shown.
        &["-s", "ValueError"][..],
        // The bug: it is in the signature, the result, the diff, the reports.
        &["-v", "--diff", "--force", "--report", "r.md"],
        &["-o", "-", "--report", "r.html"],
    ] {
        let args = [&common[..], more].concat();
        let mut command = place.command(&args);
        command.env("TERM", "xterm-256color");
        let seen = on_terminal(command, 80, None);
        assert_eq!(raw(&seen.bytes), [""; 0], "{more:?}");
        assert!(
            seen.screen().contains("\\x1b]0;TITLE\\x07"),
            "{}",
            seen.screen()
        );
    }
    for name in ["r.md", "r.html"] {
        let report = place.read(name);
        assert!(report.contains("first"), "{report}");
        assert_eq!(raw(report.as_bytes()), [""; 0], "{name}");
    }
}

#[test]
fn a_result_that_standard_output_does_not_take_is_an_error() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let mut command = place.command(&["x.py", "-s", SIGNATURE, "-o", "-", "--no-ablation"]);
    command.stdout(
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap(),
    );
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert!(
        stderr.contains("could not write to standard output"),
        "{stderr}"
    );
    assert!(stderr.contains("-o FILE"), "{stderr}");
}

#[test]
fn files_that_never_end_beside_the_script_and_in_the_cache_stop_nothing() {
    let place = Place::new();
    place.file(
        "x.py",
        NOISY.replace("LIMIT = 10", "LIMIT = 10  # kmsg pipe zero"),
    );
    symlink("/proc/kmsg", place.work().join("kmsg")).unwrap();
    symlink("/dev/zero", place.work().join("zero")).unwrap();
    mknodat(
        CWD,
        place.work().join("pipe.py"),
        FileType::Fifo,
        Mode::RUSR,
        0,
    )
    .unwrap();
    let args = ["x.py", "-s", SIGNATURE, "--no-ablation", "--max-runs", "1"];
    assert_eq!(place.run(&args).status.code(), Some(3));
    let journals = place.root.path().join("home/.cache/minrepro/journals");
    let journal = fs::read_dir(&journals)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::remove_file(&journal).unwrap();
    mknodat(CWD, &journal, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let output = place.run(&args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("no journal is kept"), "{stderr}");
    assert!(stderr.contains("not a regular file"), "{stderr}");
}

#[test]
fn a_limit_that_ends_the_script_is_said() {
    let place = Place::new();
    place.file(
        "x.py",
        "import subprocess, sys, time\nfor _ in range(700):\n    subprocess.Popen(['sleep', '60'])\ntime.sleep(60)\n",
    );
    let begun = Instant::now();
    let shown = place.shown(&["x.py", "--no-journal", "--runner", "cold"]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{shown}");
    assert!(shown.starts_with("status: 1\n"), "{shown}");
    for part in [
        "too many processes",
        "512 processes at a time",
        "fewer processes",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn encodings_survive_all_passes() {
    for (label, text) in [
        ("latin-1", &b"caf\xe9"[..]),
        ("cp1252", b"\x80uro"),
        ("koi8-r", b"\xd0\xd2\xc9"),
        ("euc-jp", b"\xb4\xc1\xbb\xfa"),
        ("shift_jis", b"\x8a\xbf\x8e\x9a"),
        ("gbk", b"\xba\xba\xd7\xd6"),
        ("big5", b"\xba\x7e\xa6\x72"),
    ] {
        let place = Place::new();
        let line = [b"# -*- coding: ", label.as_bytes(), b" -*-\r\n"].concat();
        let script = [
            &line[..],
            b"import json\r\n# \x61 comment\r\nunused = 1\r\nname = {'",
            text,
            b"'}\r\nprint(unused)\r\njson.dumps(name)\r\n",
        ]
        .concat();
        place.file("x.py", &script);
        // The word must stay, and with it the comment that says what its bytes mean.
        let args = [
            "x.py",
            "-s",
            SIGNATURE,
            "--no-ablation",
            "--loose",
            "--keep",
            "/[^\\s!-~]/",
        ];
        // One of one byte a character and one of several go through all passes.
        let few = ["--passes", "drop-statements,drop-comments"];
        let is_thorough = ["latin-1", "euc-jp"].contains(&label);
        let args = [&args[..], if is_thorough { &[] } else { &few }].concat();
        let output = place.run(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let result = fs::read(place.work().join("x.min.py")).unwrap();
        let shown = String::from_utf8_lossy(&result);
        assert!(result.starts_with(&line), "{shown}");
        assert!(
            result.windows(text.len()).any(|part| part == text),
            "{shown}"
        );
        assert!(
            !shown.contains("unused") && !shown.contains("comment"),
            "{shown}"
        );
    }
}
