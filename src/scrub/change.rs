//! Which change fixed a bug: the history of a checkout between the tags of two versions, by the
//! files of the traceback and the words of the error. Reads only, and gives up soon.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    issue::reported::ReportedFailure,
    tool::{ExternalTools, Interrupted, ToolCall},
};

/// A change that may have done it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitCandidate {
    /// The commit.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// The pull request that its subject names.
    pub pull: Option<u64>,
    /// How much speaks for it.
    pub score: u32,
    /// What speaks for it.
    pub reasons: Vec<String>,
}

/// All of the search together.
const LIMIT: Duration = Duration::from_secs(10);
/// How many are worth showing.
const MOST: usize = 5;

/// What the history tells.
#[derive(Debug, Default)]
pub struct History {
    /// Candidates, the likeliest first.
    pub changes: Vec<CommitCandidate>,
    /// Why there may be more, for people.
    pub gaps: Vec<String>,
}

/// Something that speaks for the commits that a search of the history lists.
struct Clue {
    /// The end of the search's command line.
    args: Vec<String>,
    /// How much it says, the less the more commits it lists.
    weight: fn(hits: usize, depth: u32) -> u32,
    /// How far from the end of the traceback.
    depth: u32,
    reason: String,
}

/// So many commits are listed for a clue; what has as many says little.
const LISTED: usize = 300;

/// Candidates between two versions; none if the checkout does not know the versions.
pub fn candidates(
    checkout: &Path,
    versions: (&str, &str),
    number: Option<u64>,
    what: &ReportedFailure,
    tools: &ExternalTools,
) -> Result<History, Interrupted> {
    let started = Instant::now();
    let git = |args: &[&str]| {
        let mut call = ToolCall::new(std::iter::once("git").chain(args.iter().copied()));
        call.folder = Some(checkout.to_owned());
        call.limit = LIMIT.saturating_sub(started.elapsed());
        call.env = vec![
            ("GIT_OPTIONAL_LOCKS", Some("0".to_owned())),
            ("GIT_PAGER", Some("cat".to_owned())),
        ];
        call
    };
    let mut ends = Vec::new();
    for version in [versions.0, versions.1] {
        let plain = version.split('+').next().unwrap_or(version);
        let names = [
            format!("v{plain}"),
            plain.to_owned(),
            format!("v{plain}-rc1"),
        ];
        let calls: Vec<ToolCall> = names
            .iter()
            .map(|name| {
                git(&[
                    "rev-parse",
                    "--verify",
                    "--quiet",
                    &format!("{name}^{{commit}}"),
                ])
            })
            .collect();
        let output = tools.call_all(&calls)?;
        let Some((name, _)) = names
            .into_iter()
            .zip(output)
            .find(|(_, output)| output.is_success())
        else {
            let gap = format!(
                "`{}` has no tag of {version}; `git fetch --tags` may bring it",
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
    let clues = clues(number, what);
    let calls: Vec<ToolCall> = clues
        .iter()
        .map(|clue| {
            let args = ["log", "--format=%h%x09%s", &listed, &range];
            git(&args
                .into_iter()
                .chain(clue.args.iter().map(String::as_str))
                .collect::<Vec<_>>())
        })
        .collect();
    let mut history = History::default();
    let mut found: BTreeMap<String, CommitCandidate> = BTreeMap::new();
    for (clue, output) in clues.into_iter().zip(tools.call_all(&calls)?) {
        if !output.is_success() {
            history.gaps.push(format!(
                "not searched to the end, for lack of time: whether {}",
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
            let change = found
                .entry(commit.to_owned())
                .or_insert_with(|| CommitCandidate {
                    commit: commit.to_owned(),
                    subject: subject.to_owned(),
                    pull: pull(subject),
                    score: 0,
                    reasons: Vec::new(),
                });
            change.score += score;
            change.reasons.push(clue.reason.clone());
        }
    }
    history.changes = found.into_values().collect();
    history
        .changes
        .sort_by(|a, b| b.score.cmp(&a.score).then(a.commit.cmp(&b.commit)));
    history.changes.truncate(MOST);
    Ok(history)
}

/// What to look for. No file and no word alone is enough for a claim.
fn clues(number: Option<u64>, what: &ReportedFailure) -> Vec<Clue> {
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
    if let ReportedFailure::Exception { files, .. } = what {
        for (depth, file) in (0..).zip(files.iter().rev().take(4)) {
            let reason = format!("it changes {file}, which the traceback names");
            let weight = |hits, depth| 4 - depth + u32::from(hits <= 3);
            clues.push(Clue {
                args: owned(&["--", file]),
                weight,
                depth,
                reason,
            });
        }
    }
    for word in keywords(what) {
        let pattern = format!("--grep={word}");
        let weight = |hits, _| match hits {
            0..=3 => 5,
            4..=10 => 4,
            11..=50 => 3,
            _ if hits < LISTED => 2,
            _ => 1,
        };
        let reason = format!("its message has `{word}`");
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

/// The words of an error that tell it from others: names first, long words next.
fn keywords(what: &ReportedFailure) -> Vec<String> {
    let ReportedFailure::Exception { message, .. } = what else {
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
