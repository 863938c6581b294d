//! The parts of the help that come from tables: forms of signatures and exit statuses. Pure. Called
//! by the arguments.

use std::fmt::Write;

use super::{
    diagnose_args::{DIAGNOSE_EXAMPLES, DIAGNOSE_STATUSES},
    exit::Exit,
    scrub_args::{BISECT_EXAMPLES, SCRUB_EXAMPLES},
};
use crate::oracle::FORMS;

const REDUCE: &str = "\
Examples:
  minrepro script.py --signature \"RuntimeError: expected scalar\"
  minrepro script.py                                  derives the signature from the script's own failure
  minrepro script.py --python ~/venvs/new/bin/python -o small.py
  minrepro script.py --test ./still-broken.sh         exit status 0 means still interesting
  minrepro script.py --signature RuntimeError -- --epochs 1
  minrepro -m shop.cli -- build                       runs a module, as python -m does
  minrepro - < script.py                              reads standard input
  minrepro tests/test_rules.py::test_gold             takes a pytest test
  minrepro report.ipynb                               takes the cells of a notebook
  minrepro check script.py                            shows the signature and how often the bug shows
  minrepro check script.py --candidate by-hand.py     says whether another program shows the same bug";

/// The statuses that have their own meaning for `scrub`.
const SCRUB_STATUSES: &[(Exit, &str)] = &[
    (
        Exit::Reduced,
        "scrubbed, with any outcome that has no status of its own",
    ),
    (
        Exit::NotReproduced,
        "the bug no longer reproduces, or the script fails in another way",
    ),
    (Exit::Usage, "wrong flags or files"),
    (
        Exit::Environment,
        "packages, hardware, Python, `gh` or GitHub are missing, a write failed, or an issue of a search",
    ),
    (
        Exit::Refused,
        "a security concern, and nobody agreed to continue",
    ),
    (
        Exit::Interrupted(2),
        "interrupted; run the same command again to continue",
    ),
];

/// The statuses that have their own meaning for `bisect`.
const BISECT_STATUSES: &[(Exit, &str)] = &[
    (Exit::Reduced, "the change was found"),
    (Exit::NotReproduced, "all versions behave the same"),
    (
        Exit::Environment,
        "no version could be judged, or there are fewer than two",
    ),
];

/// Examples, forms of signatures and exit statuses of the default verb.
pub(super) fn reduce() -> String {
    let mut signatures = String::new();
    for form in FORMS {
        let syntax = form.syntax.join(", ");
        // A long spelling has a line of its own.
        let gap = if syntax.len() < 16 {
            " ".repeat(16 - syntax.len())
        } else {
            format!("\n{:18}", "")
        };
        let _ = writeln!(signatures, "  {syntax}{gap}{}", form.summary);
    }
    format!(
        "{REDUCE}\n\nSignatures:\n{signatures}  An ellipsis in a text matches anything within a line: expected … but got\n  If --signature is given several times, all must hold.\n\n{}",
        statuses(&exits(None))
    )
}

/// Examples and exit statuses of `scrub`.
pub(super) fn scrub() -> String {
    format!("{SCRUB_EXAMPLES}\n\n{}", statuses(&exits(Some("scrub"))))
}

/// Examples and exit statuses of `bisect`.
pub(super) fn bisect() -> String {
    format!("{BISECT_EXAMPLES}\n\n{}", statuses(&exits(Some("bisect"))))
}

/// Examples and exit statuses of `diagnose`.
pub(super) fn diagnose() -> String {
    let statuses = statuses(&exits(Some("diagnose")));
    format!("{DIAGNOSE_EXAMPLES}\n\n{statuses}")
}

/// The exit statuses of a verb, or of the program, with their meanings.
fn exits(verb: Option<&str>) -> Vec<(Exit, &'static str)> {
    match verb {
        Some("scrub") => SCRUB_STATUSES.to_vec(),
        Some("diagnose") => DIAGNOSE_STATUSES.to_vec(),
        Some("bisect") => BISECT_STATUSES.to_vec(),
        _ => Exit::ALL
            .iter()
            .map(|exit| (*exit, exit.meaning()))
            .collect(),
    }
}

/// The section of a help text that lists exit statuses.
pub(super) fn statuses(exits: &[(Exit, &str)]) -> String {
    let lines = exits
        .iter()
        .map(|(exit, meaning)| format!("\n  {:<4} {meaning}", exit.code()));
    format!("Exit status:{}", lines.collect::<String>())
}
