//! Which code is the repro, and what is reported, over a table of issues written after the forms
//! that issues have.

use std::time::{Duration, SystemTime};

use minrepro::scrub::issue::{
    Association, Issue, Post,
    failure::ReportedFailure,
    reported::reported,
    repro::{Pick, pick},
};

/// A post at a day of the calendar of these tests.
pub(super) fn post(author: &str, association: Association, day: u64, body: &str) -> Post {
    Post {
        author: author.to_owned(),
        association,
        is_bot: author.ends_with("[bot]"),
        created: SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * day),
        body: body.to_owned(),
    }
}

/// An open issue by `op`, without labels.
pub(super) fn issue(title: &str, body: &str) -> Issue {
    Issue {
        number: 7,
        node_id: "I_7".to_owned(),
        title: title.to_owned(),
        post: post("op", Association::None, 20_000, body),
        is_closed: false,
        state_reason: None,
        is_locked: false,
        labels: Vec::new(),
        assignees: Vec::new(),
        updated: SystemTime::UNIX_EPOCH,
        comments: Vec::new(),
    }
}

pub(super) fn association(name: &str) -> Association {
    serde_json::from_value(name.into()).unwrap()
}

/// A case: what is expected, and the issue.
struct Case<'a> {
    name: &'a str,
    expected: Vec<(&'a str, &'a str)>,
    issue: Issue,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    text.split("\n=== ").map(case).collect()
}

fn case(text: &str) -> Case<'_> {
    const KEYS: &[&str] = &["pick", "has", "not", "error", "title", "crlf", "ansi"];
    let (name, mut rest) = text.trim_start_matches("=== ").split_once('\n').unwrap();
    let mut expected = Vec::new();
    while let Some((line, behind)) = rest.split_once('\n')
        && let Some((key, value)) = line.split_once(": ")
        && KEYS.contains(&key)
    {
        expected.push((key, value));
        rest = behind;
    }
    let is_set = |key: &str| expected.iter().any(|(name, _)| *name == key);
    let changed = |text: &str| {
        let text = if is_set("crlf") {
            text.replace('\n', "\r\n")
        } else {
            text.to_owned()
        };
        if is_set("ansi") {
            text.replace("ESC", "\u{1b}")
        } else {
            text
        }
    };
    let mut posts = rest.split("\n--- ");
    let title = expected
        .iter()
        .find(|(key, _)| *key == "title")
        .map_or("Something fails", |(_, title)| title);
    let mut issue = issue(title, &changed(posts.next().unwrap()));
    for (day, text) in posts.enumerate() {
        let (head, body) = text.split_once('\n').unwrap();
        let (author, role) = head.split_once(' ').unwrap();
        issue.comments.push(post(
            author,
            association(role),
            20_001 + day as u64,
            &changed(body),
        ));
    }
    Case {
        name,
        expected,
        issue,
    }
}

/// How a case came out: right, asked where it should know, or wrong without a word.
#[derive(Debug, PartialEq)]
enum Result {
    Right,
    Asked(String),
    Wrong(String),
}

fn check(case: &Case<'_>) -> Result {
    let value = |key: &str| {
        case.expected
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
            .unwrap()
    };
    let picked = pick(&case.issue);
    let repro = match (&picked, value("pick")) {
        (Pick::Ask(_), "ask") | (Pick::ImageOnly, "image") | (Pick::None(_), "none") => None,
        (Pick::Found(repro), at) if at.parse() == Ok(repro.post) => Some(repro),
        (Pick::Ask(options), _) => return Result::Asked(format!("{options:?}")),
        (picked, _) => return Result::Wrong(format!("{picked:?}")),
    };
    for (key, text) in &case.expected {
        let is_in = repro.is_some_and(|repro| repro.code.contains(text));
        if (*key == "has" && !is_in) || (*key == "not" && is_in) {
            return Result::Wrong(format!("{key} `{text}`: {repro:?}"));
        }
    }
    let found = reported(&case.issue, repro.map(|repro| &**repro));
    let shown = match found.as_ref().map(|reported| &reported.what) {
        None => "-".to_owned(),
        Some(ReportedFailure::Hang) => "hang".to_owned(),
        Some(ReportedFailure::WrongResult) => "wrong".to_owned(),
        Some(ReportedFailure::Crash(_)) => "crash".to_owned(),
        Some(what @ ReportedFailure::Exception { .. }) => what.signature().unwrap(),
    };
    if shown == value("error") {
        Result::Right
    } else {
        Result::Wrong(format!("error `{shown}`"))
    }
}

#[test]
fn the_right_repro_and_the_right_error_are_found() {
    let cases = cases(include_str!("bodies.txt"));
    assert!(cases.len() >= 60, "{}", cases.len());
    let results: Vec<(&str, Result)> = cases.iter().map(|case| (case.name, check(case))).collect();
    let wrong: Vec<_> = results
        .iter()
        .filter(|(_, outcome)| *outcome != Result::Right)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} are not right: {wrong:#?}",
        wrong.len(),
        results.len()
    );
}
