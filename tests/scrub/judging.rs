//! What an issue is, over a table of records: the right sort, or a question where it is not clear;
//! and who is asked to close it.

use std::time::{Duration, SystemTime};

use minrepro::scrub::issue::{
    Association,
    actionable::{judge, suggests_closing},
    hardware::Machine,
    recent::confirmation,
    reported::reported,
    repro::{Pick, pick},
};

use super::picking::{association, issue, post};

#[test]
fn every_record_is_judged_correctly_or_asked_about() {
    let mut wrong = Vec::new();
    let records: Vec<&str> = include_str!("records.txt").split("\n=== ").collect();
    assert!(records.len() >= 40, "{}", records.len());
    for record in &records {
        let (title, mut rest) = record.trim_start_matches("=== ").split_once('\n').unwrap();
        let mut issue = issue(title, "Something is off.");
        let (mut sort, mut evidence, mut gpus) = ("", "", 0);
        while let Some((key, value)) = rest
            .split('\n')
            .next()
            .and_then(|line| line.split_once(": "))
        {
            let value_text = value.replace('|', "\n");
            match key {
                "state" => {
                    issue.is_closed = true;
                    issue.state_reason = value.split(' ').nth(1).map(str::to_owned);
                }
                "labels" => issue.labels = value.split(", ").map(str::to_owned).collect(),
                "body" => issue.post.body = value_text,
                "code" => issue.post.body = format!("```python\nimport torch\n{value_text}\n```"),
                "gpus" => gpus = value.parse().unwrap(),
                "sort" => sort = value,
                "evidence" => evidence = value,
                other => panic!("{other}"),
            }
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
        for (day, text) in rest
            .split("--- ")
            .filter(|record| !record.trim().is_empty())
            .enumerate()
        {
            let (head, body) = text.split_once('\n').unwrap();
            let (author, role) = head.split_once(' ').unwrap();
            issue
                .comments
                .push(post(author, association(role), 20_001 + day as u64, body));
        }
        let repro = match pick(&issue) {
            Pick::Found(repro) => Some(*repro),
            _ => None,
        };
        let reported = reported(&issue, repro.as_ref());
        let judged = judge(&issue, repro.as_ref(), reported.as_ref(), Machine { gpus });
        let shown = format!(
            "{}{}",
            serde_json::to_value(judged.kind).unwrap().as_str().unwrap(),
            if judged.is_certain { "" } else { "?" }
        );
        if shown != sort || !judged.evidence.contains(evidence) {
            wrong.push(format!("{record}\n => {judged:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {}",
        wrong.len(),
        records.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn closing_is_suggested_only_for_abandoned_issues() {
    let day = |day: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * day);
    let old = issue("t", "b");
    assert!(suggests_closing(&old, day(20_400)).is_some());
    assert!(suggests_closing(&old, day(20_300)).is_none());
    let mut assigned = old.clone();
    assigned.assignees.push("ann".to_owned());
    assert!(suggests_closing(&assigned, day(20_400)).is_none());
    let mut moving = old.clone();
    moving
        .comments
        .push(post("ann", Association::None, 20_300, "still here"));
    assert!(suggests_closing(&moving, day(20_400)).is_none());
}

#[test]
fn confirmations_are_recent_and_show_the_same_error() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * 20_100);
    let body = "```python\nimport torch\ntorch.ones(2).x()\n```\n```\n\
         Traceback (most recent call last):\n  File \"x.py\", line 2, in <module>\n\
         AttributeError: no attribute called x\n```";
    let same = "I can still reproduce it:\n```\n\
         Traceback (most recent call last):\n  File \"y.py\", line 9, in <module>\n\
         AttributeError: no attribute called x\n```";
    let other = same.replace("AttributeError", "TypeError");
    for (association, day, text, expected) in [
        (Association::None, 20_050, same, true),
        (Association::None, 20_050, other.as_str(), false),
        (Association::None, 20_050, "still reproduces", false),
        (
            Association::Member,
            20_050,
            "This still repros on main abc",
            true,
        ),
        (
            Association::Member,
            20_050,
            "I can no longer reproduce it",
            false,
        ),
        (
            Association::Member,
            20_050,
            "Could you see whether it still reproduces?",
            false,
        ),
        (
            Association::Member,
            19_900,
            "This still repros on main abc",
            false,
        ),
    ] {
        let mut issue = issue("t", body);
        issue.comments.push(post("ann", association, day, text));
        let reported = reported(&issue, None);
        assert_eq!(
            confirmation(&issue, reported.as_ref(), now).is_some(),
            expected,
            "{day} {text}"
        );
    }
}
