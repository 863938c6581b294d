//! Saved issues, by the table `unfixed.txt`, whose bugs are there although their scripts pass here:
//! by chance, by a seed, in newer versions, with several ranks, on other devices, with workers, or
//! because the script was started in another way. None of them may be closed.

use std::{fs, path::Path, process::Output};

use serde_json::{Value, json};

use super::{
    faults::wrong_ones,
    flow::{FIXED, OLDER},
};
use crate::support::{command, newest, skip};

/// The error logs and versions of an issue.
fn logs(message: &str) -> String {
    format!(
        "\n### Error logs\n\n```\nTraceback (most recent call last):\n  File \"x.py\", line 9, in \
         <module>\n    f()\nRuntimeError: {message}\n```\n\n### Versions\n\nPyTorch version: 2.0.0\n"
    )
}

/// A record of the table as `gh issue view --json` prints an issue.
fn saved(record: &str) -> Value {
    let (title, text) = match record.strip_prefix("title: ") {
        Some(rest) => rest.split_once('\n').unwrap(),
        None => ("The values go wrong", record),
    };
    let text = text
        .replace("\nLOG", &logs("the values went wrong here"))
        // This one is shown by the older version.
        .replace(
            "\nSTACK",
            &logs("stack expects a non-empty TensorList of things"),
        );
    let mut posts = text.split("\n--- ");
    let body = posts.next().unwrap();
    let comments = posts.enumerate().map(|(at, post)| {
        let (head, body) = post.split_once('\n').unwrap();
        let (author, association) = head.split_once(' ').unwrap();
        json!({
            "author": {"login": author}, "authorAssociation": association, "body": body,
            "createdAt": format!("2026-09-{:02}T00:00:00Z", at + 2),
        })
    });
    json!({
        "number": 7, "title": title, "body": format!("### 🐛 Describe the bug\n\n{body}"),
        "state": "OPEN", "author": {"login": "op"}, "labels": [], "assignees": [],
        "createdAt": "2026-09-01T00:00:00Z", "comments": comments.collect::<Vec<_>>(),
    })
}

fn scrub(folder: &Path) -> Output {
    command(env!("CARGO_BIN_EXE_minrepro"))
        .args(["scrub", "--from", "issue.json", "--dir", "scrubbed"])
        .args(["--dry-run", "--json", "--trust", "-j", "1"])
        .arg("--python")
        .arg(&*FIXED)
        .args(["--interpreter", &OLDER])
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap()
}

#[test]
fn no_saved_issue_would_be_closed_whose_bug_is_there() {
    if newest().is_none() {
        return skip("saved issues", "there is no CPython");
    }
    let mut records: Vec<&str> = include_str!("unfixed.txt").split("=== ").skip(1).collect();
    assert!(records.len() >= 40, "{}", records.len());
    if std::env::var_os("MINREPRO_TEST_UNFIXED").is_none() {
        records = records.into_iter().step_by(3).collect();
    }
    let wrong = wrong_ones(records, |record| {
        let (name, text) = record.split_once('\n').unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut file = fs::File::create(folder.path().join("issue.json")).unwrap();
        std::io::Write::write_all(&mut file, saved(text).to_string().as_bytes()).unwrap();
        let output = scrub(folder.path());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let may_end = [
            "Inconclusive",
            "NeedsHardware",
            "RecentlyVerified",
            // Chance has shown it.
            "AlreadyMinimal",
            "Minimized",
        ];
        let is_right = report["end"]
            .as_str()
            .is_some_and(|end| may_end.contains(&end))
            && !report["plan"].to_string().contains("\"close\"");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (!is_right).then(|| format!("{name}: {} {}\n{stderr}", report["end"], report["plan"]))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n=====\n"));
}
