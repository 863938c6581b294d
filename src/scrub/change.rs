//! Which change fixed a bug: the history of a checkout between the tags of two versions, by the files of the traceback and
//! the words of the error. Reads only, and gives up soon.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    issue::reported::What,
    tool::{Call, Interrupted, Tools},
};

/// A change that may have done it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
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

/// Candidates between two versions, the likeliest first; none if the checkout does not know the versions.
pub fn candidates(
    checkout: &Path,
    versions: (&str, &str),
    number: Option<u64>,
    what: &What,
    tools: &Tools,
) -> Result<Vec<Change>, Interrupted> {
    let started = Instant::now();
    let git = |args: &[&str]| -> Result<Option<String>, Interrupted> {
        let left = LIMIT.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        let mut call = Call::new(std::iter::once("git").chain(args.iter().copied()));
        call.folder = Some(checkout.to_owned());
        call.limit = left;
        call.env = vec![("GIT_OPTIONAL_LOCKS", Some("0".to_owned())), ("GIT_PAGER", Some("cat".to_owned()))];
        let said = tools.call(&call)?;
        Ok(said.is_well().then_some(said.stdout))
    };
    let mut ends = Vec::new();
    for version in [versions.0, versions.1] {
        let version = version.split('+').next().unwrap_or(version);
        let mut known = None;
        for name in [format!("v{version}"), version.to_owned(), format!("v{version}-rc1")] {
            if git(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?.is_some() {
                known = Some(name);
                break;
            }
        }
        let Some(known) = known else { return Ok(Vec::new()) };
        ends.push(known);
    }
    let range = format!("{}..{}", ends[0], ends[1]);
    let mut found: BTreeMap<String, Change> = BTreeMap::new();
    let mut credit = |log: Option<String>, score: u32, reason: &str| {
        for line in log.unwrap_or_default().lines() {
            let Some((commit, subject)) = line.split_once('\t') else { continue };
            let change = found.entry(commit.to_owned()).or_insert_with(|| Change {
                commit: commit.to_owned(),
                subject: subject.to_owned(),
                pull: pull(subject),
                score: 0,
                reasons: Vec::new(),
            });
            change.score += score;
            change.reasons.push(reason.to_owned());
        }
    };
    let log = ["log", "--format=%h%x09%s", "--max-count=300"];
    let with = |rest: &[&str]| -> Vec<String> {
        log.iter().chain([&range.as_str()]).chain(rest).map(|it| (*it).to_owned()).collect()
    };
    let ask = |args: Vec<String>| git(&args.iter().map(String::as_str).collect::<Vec<_>>());
    if let Some(number) = number {
        let pattern = format!("(#|issues/){number}([^0-9]|$)");
        credit(
            ask(with(&["--extended-regexp", &format!("--grep={pattern}")]))?,
            10,
            "its message names the issue",
        );
    }
    if let What::Exception { files, .. } = what {
        for (depth, file) in files.iter().rev().take(4).enumerate() {
            credit(
                ask(with(&["--", file]))?,
                4 - depth as u32,
                &format!("it changes {file}, which the traceback names"),
            );
        }
    }
    for word in keywords(what) {
        credit(
            ask(with(&["--regexp-ignore-case", "--fixed-strings", &format!("--grep={word}")]))?,
            2,
            &format!("its message has `{word}`"),
        );
    }
    let mut found: Vec<Change> = found.into_values().collect();
    found.sort_by(|a, b| b.score.cmp(&a.score).then(a.commit.cmp(&b.commit)));
    found.truncate(MOST);
    Ok(found)
}

/// The number in `Subject (#123)`.
fn pull(subject: &str) -> Option<u64> {
    let (_, rest) = subject.rsplit_once("(#")?;
    rest.strip_suffix(')')?.parse().ok()
}

/// The words of an error that tell it from others: names first, long words next.
fn keywords(what: &What) -> Vec<String> {
    let What::Exception { message, .. } = what else { return Vec::new() };
    let mut words: Vec<String> = message
        .split(|char: char| !(char.is_alphanumeric() || char == '_' || char == '.'))
        .map(|it| it.trim_matches('.').to_owned())
        .filter(|it| it.len() > 6 && it.chars().any(char::is_alphabetic))
        .collect();
    words.sort_by_key(|it| (!it.contains(['_', '.']), std::cmp::Reverse(it.len())));
    words.dedup();
    words.truncate(3);
    words
}
