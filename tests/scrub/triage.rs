//! `minrepro triage` by the real binary, on issues that are made here: which labels, and which
//! never.

use std::fs;

use crate::support::{command, newest, skip};

/// The labels that triage would add to an issue, and its whole report.
fn triaged(title: &str, body: &str, has: &[&str]) -> (Vec<String>, serde_json::Value) {
    let place = tempfile::tempdir().unwrap();
    let labels: Vec<_> = has
        .iter()
        .map(|name| serde_json::json!({ "name": name }))
        .collect();
    let issue = serde_json::json!({
        "number": 7, "node_id": "N", "title": title, "body": body, "state": "open",
        "user": { "login": "somebody" }, "labels": labels,
        "created_at": "2026-11-01T00:00:00Z", "updated_at": "2026-11-01T00:00:00Z",
    });
    let mut file = fs::File::create(place.path().join("issue.json")).unwrap();
    std::io::Write::write_all(&mut file, issue.to_string().as_bytes()).unwrap();
    let output = command(env!("CARGO_BIN_EXE_minrepro"))
        .args(["triage", "--from", "issue.json", "--json"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let writes = report["plan"].as_array().unwrap().iter();
    let added = writes
        .filter_map(|write| write["labels"]["add"].as_array())
        .flatten();
    (
        added
            .map(|label| label.as_str().unwrap().to_owned())
            .collect(),
        report,
    )
}

#[track_caller]
fn check(title: &str, body: &str, has: &[&str], expected: &[&str]) {
    let (mut found, report) = triaged(title, body, has);
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected, "{report:#}");
    // Each label comes with a line that speaks for it.
    for label in report["labels"].as_array().unwrap() {
        assert!(!label["by"].as_str().unwrap().is_empty(), "{label}");
    }
}

const DISTRIBUTED: &[&str] = &["oncall: distributed"];

#[test]
fn distributed_issues_get_one_group_and_their_modules() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let fsdp = include_str!("triage/fsdp.md");
    check(
        "Wrong padding",
        fsdp,
        DISTRIBUTED,
        &[
            "oncall: distributed parallelisms",
            "module: fsdp",
            "ptd-bot-triaged",
        ],
    );
    // The watchdog of NCCL that stops a training run is no bug of what is trained.
    check(
        "Training stops after some hours",
        include_str!("triage/watchdog.md"),
        DISTRIBUTED,
        &["oncall: distributed infra", "ptd-bot-triaged"],
    );
    check(
        "dcp.load fails for FSDP2 models",
        include_str!("triage/dcp.md"),
        DISTRIBUTED,
        &["oncall: distributed checkpointing", "ptd-bot-triaged"],
    );
    // What a person has chosen stays, and nothing is added to what is classified.
    check(
        "DDP hangs",
        fsdp,
        &[
            "oncall: distributed",
            "oncall: distributed infra",
            "module: ddp",
        ],
        &["ptd-bot-triaged"],
    );
}

#[test]
fn what_is_not_sure_is_left_to_people() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    let (found, report) = triaged(
        "import torch fails",
        include_str!("triage/symbol.md"),
        DISTRIBUTED,
    );
    assert_eq!(found, ["triage review", "ptd-bot-triaged"], "{report:#}");
    let comment = report["comment"].as_str().unwrap();
    assert!(
        comment.contains("does not seem to involve") && !comment.contains("{why}"),
        "{comment}"
    );
    check(
        "It does not work",
        "Please help.",
        DISTRIBUTED,
        &["triage review", "ptd-bot-triaged"],
    );
    // A person decides what is urgent.
    let (found, report) = triaged(
        "[FSDP] silently wrong gradients since the upgrade",
        include_str!("triage/wrong.md"),
        DISTRIBUTED,
    );
    assert!(found.contains(&"triage review".to_owned()), "{report:#}");
    assert!(!found.contains(&"ptd-bot-triaged".to_owned()), "{report:#}");
    assert!(!report["flags"].as_array().unwrap().is_empty());
    // Neither code nor an error.
    let (found, report) = triaged(
        "DDP is strange with find_unused_parameters",
        "See the title.",
        DISTRIBUTED,
    );
    assert!(
        found.contains(&"needs reproduction".to_owned()),
        "{report:#}"
    );
    assert!(
        report["comment"]
            .as_str()
            .unwrap()
            .contains("logs of all ranks")
    );
    // Nothing is said of other queues, closed or not.
    check("Crash in convolution", "no", &["module: nn"], &[]);
}

#[test]
fn compiler_issues_get_their_components_and_nothing_forbidden_is_written() {
    if newest().is_none() {
        return skip("triage", "no CPython");
    }
    check(
        "Compiled model fails",
        include_str!("triage/lowering.md"),
        &["oncall: pt2"],
        &["module: inductor"],
    );
    check(
        "torch.export: constraints violated",
        "```\ntorch._dynamo.exc.UserError: Constraints violated (batch)!\n```\n",
        &["oncall: pt2"],
        &["oncall: export", "module: dynamic shapes"],
    );
    let everything = "high priority ciflow/trunk release notes: distributed merge blocking \
                      FSDP DDP NCCL error segfault \
                      regression dynamo inductor export vmap";
    for has in [
        &["oncall: distributed", "oncall: pt2"][..],
        &["oncall: pt2"],
        DISTRIBUTED,
    ] {
        let (found, report) = triaged(everything, everything, has);
        for label in &found {
            let is_forbidden = [
                "high priority",
                "oncall: distributed",
                "bot-triaged",
                "merge blocking",
            ]
            .contains(&label.as_str())
                || label.starts_with("ciflow")
                || label.starts_with("release notes");
            assert!(!is_forbidden, "{label}: {report:#}");
        }
        let groups = found
            .iter()
            .filter(|label| label.starts_with("oncall: distributed "))
            .count();
        assert!(groups <= 1, "{found:?}");
        let removed = report["plan"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|write| write["labels"]["remove"].as_array());
        assert_eq!(removed.flatten().count(), 0);
    }
}
