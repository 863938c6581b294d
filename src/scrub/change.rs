//! Searches for the commit that fixed a bug in the history of a checkout between the tags of two
//! versions, by the files of the traceback and the words of the error. Only reads, and stops early.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    issue::failure::ReportedFailure,
    tool::{ExternalTools, Interrupted, ToolCall, ToolOutput},
};

/// A commit that may have fixed the bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitCandidate {
    /// Its hash.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// The pull request that its subject names.
    pub pull: Option<u64>,
    /// Its score, the sum of the weights of all clues.
    pub score: u32,
    /// The clues that list it.
    pub reasons: Vec<String>,
}

/// The time limit of the whole search.
const LIMIT: Duration = Duration::from_secs(10);
/// The most candidates that are shown.
const MOST: usize = 5;

/// The result of the search.
#[derive(Debug, Default)]
pub struct History {
    /// Candidates, the likeliest first.
    pub changes: Vec<CommitCandidate>,
    /// Reasons why there may be more, for people.
    pub gaps: Vec<String>,
}

/// A search of the history whose commits are candidates.
struct Clue {
    /// The end of the search's command line.
    args: Vec<String>,
    /// The weight of the clue, which falls with the number of commits listed.
    weight: fn(hits: usize, depth: u32) -> u32,
    /// The distance from the end of the traceback.
    depth: u32,
    reason: String,
}

/// The most commits listed for a clue. A clue with as many says little.
const LISTED: usize = 300;

/// Candidates between two versions; none if the checkout does not know the versions.
pub fn candidates(
    checkout: &Path,
    versions: (&str, &str),
    number: Option<u64>,
    failure: &ReportedFailure,
    tools: &ExternalTools,
) -> Result<History, Interrupted> {
    let started = Instant::now();
    let git = |args: &[&str]| git(checkout, LIMIT.saturating_sub(started.elapsed()), args);
    let mut ends = Vec::new();
    for version in [versions.0, versions.1] {
        let names = tags(version);
        let calls: Vec<ToolCall> = names
            .iter()
            .map(|name| {
                let commit = format!("{name}^{{commit}}");
                git(&["rev-parse", "--verify", "--quiet", &commit])
            })
            .collect();
        let known = names.into_iter().zip(tools.call_all(&calls)?);
        let Some((name, _)) = known.into_iter().find(|(_, output)| output.is_success()) else {
            let gap = format!(
                "`{}` has no tag of {version}; `git fetch --tags` may add it",
                checkout.display()
            );
            return Ok(History {
                gaps: vec![gap],
                ..History::default()
            });
        };
        ends.push(name);
    }
    let range = format!("{}..{}", ends[0], ends[1]);
    let listed = format!("--max-count={LISTED}");
    let clues = clues(number, failure);
    let calls: Vec<ToolCall> = clues
        .iter()
        .map(|clue| {
            let mut args = vec!["log", "--format=%h%x09%s", &listed, &range];
            args.extend(clue.args.iter().map(String::as_str));
            git(&args)
        })
        .collect();
    let outputs = tools.call_all(&calls)?;
    Ok(ranked(clues.into_iter().zip(outputs)))
}

fn git(checkout: &Path, limit: Duration, args: &[&str]) -> ToolCall {
    let mut call = ToolCall::new(std::iter::once("git").chain(args.iter().copied()));
    call.folder = Some(checkout.to_owned());
    call.limit = limit;
    call.env = vec![
        ("GIT_OPTIONAL_LOCKS", Some("0".to_owned())),
        ("GIT_PAGER", Some("cat".to_owned())),
    ];
    call
}

/// The names that the tag of a version may have.
fn tags(version: &str) -> [String; 3] {
    let plain = version.split('+').next().unwrap_or(version);
    [
        format!("v{plain}"),
        plain.to_owned(),
        format!("v{plain}-rc1"),
    ]
}

/// Commits in the order of their scores, from the outputs of `git log` for each clue.
fn ranked(searches: impl IntoIterator<Item = (Clue, ToolOutput)>) -> History {
    let mut history = History::default();
    let mut found: BTreeMap<String, CommitCandidate> = BTreeMap::new();
    for (clue, output) in searches {
        if !output.is_success() {
            history.gaps.push(format!(
                "the search was cut short for lack of time: whether {}",
                clue.reason
            ));
            continue;
        }
        let lines: Vec<(&str, &str)> = output
            .stdout
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .collect();
        let score = (clue.weight)(lines.len(), clue.depth);
        for (commit, subject) in lines {
            let candidate = found
                .entry(commit.to_owned())
                .or_insert_with(|| CommitCandidate {
                    commit: commit.to_owned(),
                    subject: subject.to_owned(),
                    pull: pull(subject),
                    score: 0,
                    reasons: Vec::new(),
                });
            candidate.score += score;
            candidate.reasons.push(clue.reason.clone());
        }
    }
    history.changes = found.into_values().collect();
    // The hash decides between equal scores, so that the order is always the same.
    history
        .changes
        .sort_by(|a, b| b.score.cmp(&a.score).then(a.commit.cmp(&b.commit)));
    history.changes.truncate(MOST);
    history
}

/// The clues to search for. No file and no word alone suffices for a claim.
fn clues(number: Option<u64>, failure: &ReportedFailure) -> Vec<Clue> {
    let mut clues = Vec::new();
    let owned = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    if let Some(number) = number {
        let pattern = format!("--grep=(#|issues/){number}([^0-9]|$)");
        let reason = "its message names the issue".to_owned();
        clues.push(Clue {
            args: owned(&["--extended-regexp", &pattern]),
            weight: |_, _| 10,
            depth: 0,
            reason,
        });
    }
    if let ReportedFailure::Exception { files, .. } = failure {
        for (depth, file) in (0..).zip(files.iter().rev().take(4)) {
            let reason = format!("it changes {file}, which is in the traceback");
            let weight = |hits, depth| 4 - depth + u32::from(hits <= 3);
            clues.push(Clue {
                args: owned(&["--", file]),
                weight,
                depth,
                reason,
            });
        }
    }
    for word in keywords(failure) {
        let pattern = format!("--grep={word}");
        let weight = |hits, _| match hits {
            0..=3 => 5,
            4..=10 => 4,
            11..=50 => 3,
            _ if hits < LISTED => 2,
            _ => 1,
        };
        let reason = format!("its message contains `{word}`");
        let args = owned(&["--regexp-ignore-case", "--fixed-strings", &pattern]);
        clues.push(Clue {
            args,
            weight,
            depth: 0,
            reason,
        });
    }
    clues
}

/// The number in `Subject (#123)`.
fn pull(subject: &str) -> Option<u64> {
    let (_, rest) = subject.rsplit_once("(#")?;
    rest.strip_suffix(')')?.parse().ok()
}

/// The distinctive words of an error: names first, long words next.
fn keywords(failure: &ReportedFailure) -> Vec<String> {
    let ReportedFailure::Exception { message, .. } = failure else {
        return Vec::new();
    };
    let mut words: Vec<String> = message
        .split(|char: char| !(char.is_alphanumeric() || char == '_' || char == '.'))
        .map(|word| word.trim_matches('.').to_owned())
        .filter(|word| word.len() > 6 && word.chars().any(char::is_alphabetic))
        .collect();
    words.sort_by_key(|word| (!word.contains(['_', '.']), std::cmp::Reverse(word.len())));
    words.dedup();
    words.truncate(3);
    words
}
