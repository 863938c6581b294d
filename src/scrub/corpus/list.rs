//! The list of historical issues, `issues.toml`: facts without any text of a thread. Reads it,
//! checks it, and rewrites hashes in place. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::scrub::issue::Repo;

/// A list of issues.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueList {
    /// The issues, in the order of the file.
    #[serde(rename = "issue")]
    pub issues: Vec<HistoricalIssue>,
}

/// The facts about an issue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoricalIssue {
    /// Its name, which is also that of its file in the cache.
    pub id: String,
    repository: Option<Repo>,
    number: Option<u64>,
    /// The address of a thread that is no issue on GitHub.
    thread: Option<String>,
    /// What kind of bug it is, such as `eager` or `crash`.
    pub kind: String,
    /// The versions of packages that show the bug; `CPython` is the interpreter itself.
    pub versions: BTreeMap<String, String>,
    /// The interpreters that may run it: comparisons, joined by commas.
    pub python: String,
    /// The signature; none if it is derived from a run.
    pub signature: Option<String>,
    /// The SHA-256 of the code.
    pub hash: Option<String>,
    /// Whether the hash is that of the code as it was run, which may have been completed by hand,
    /// and not that of a block of the thread.
    #[serde(default)]
    pub as_run: bool,
    /// The size of the best known result, in tokens.
    pub best: Option<u32>,
    /// Fragments that a result must contain.
    #[serde(default)]
    pub keep: Vec<String>,
}

/// Where an issue is discussed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueThread<'a> {
    /// On GitHub.
    GitHub(&'a Repo, u64),
    /// Elsewhere, at this address.
    Elsewhere(&'a str),
}

/// How the hash of code compares with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashComparison {
    /// It is the same.
    Same,
    /// The thread has changed since its hash was recorded.
    Changed,
    /// The recorded hash is that of a script that may have been completed by hand.
    Completed,
    /// None is recorded.
    Unrecorded,
}

/// Why a list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IssueListError {
    /// It is not TOML, or has other fields.
    #[error("it is not a list of issues")]
    Form(#[from] toml::de::Error),
    /// An issue contradicts the rules of the list.
    #[error("the issue `{0}` {1}")]
    Issue(String, &'static str),
    /// A hash cannot be written without changing anything else.
    #[error("the hash of `{0}` cannot be replaced: the file has another layout")]
    Layout(String),
}

impl IssueList {
    /// Reads a list.
    pub fn parse(text: &str) -> Result<Self, IssueListError> {
        let list: Self = toml::from_str(text)?;
        let mut ids = BTreeSet::new();
        for issue in &list.issues {
            let fault = issue.fault();
            let fault = fault.or((!ids.insert(&issue.id)).then_some("occurs twice"));
            if let Some(fault) = fault {
                return Err(IssueListError::Issue(issue.id.clone(), fault));
            }
        }
        Ok(list)
    }

    /// The issues of these names, or all of them if none is named.
    pub fn chosen(&self, only: &[String]) -> Result<Vec<&HistoricalIssue>, IssueListError> {
        let is_known = |id: &&String| self.issues.iter().any(|issue| issue.id == **id);
        if let Some(unknown) = only.iter().find(|id| !is_known(id)) {
            return Err(IssueListError::Issue(unknown.clone(), "is not on the list"));
        }
        let is_chosen = |issue: &&HistoricalIssue| only.is_empty() || only.contains(&issue.id);
        Ok(self.issues.iter().filter(is_chosen).collect())
    }

    /// The text of a list with other hashes, those of blocks as they were fetched. Every other line
    /// stays as it is.
    pub fn with_hashes(
        text: &str,
        hashes: &BTreeMap<String, String>,
    ) -> Result<String, IssueListError> {
        let mut new = String::new();
        let mut tables = text.split_inclusive('\n').peekable();
        while let Some(line) = tables.next() {
            new.push_str(line);
            if line.trim() != TABLE {
                continue;
            }
            let mut lines = Vec::new();
            while let Some(line) = tables.next_if(|line| !line.trim_start().starts_with('[')) {
                lines.push(line);
            }
            let id = lines.iter().find_map(|line| value(line, "id"));
            match id.and_then(|id| hashes.get(id)) {
                Some(hash) => new.push_str(&with_hash(&lines, hash)),
                None => new.extend(lines),
            }
        }
        let (old, list) = (Self::parse(text)?, Self::parse(&new)?);
        for (issue, before) in list.issues.iter().zip(&old.issues) {
            let expected = hashes.get(&issue.id).or(before.hash.as_ref());
            if issue.id != before.id || issue.hash.as_ref() != expected {
                return Err(IssueListError::Layout(before.id.clone()));
            }
        }
        Ok(new)
    }
}

/// The line that begins an issue.
const TABLE: &str = "[[issue]]";

/// The value of `key = "value"`.
fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let behind = line.trim().strip_prefix(key)?.trim_start();
    let value = behind.strip_prefix('=')?.trim_start();
    value.strip_prefix('"')?.split('"').next()
}

/// The lines of an issue with another hash. Without one before, it stands before the first empty
/// line or comment.
fn with_hash(lines: &[&str], hash: &str) -> String {
    let is_key = |line: &&str, key: &str| {
        let behind = line.trim_start().strip_prefix(key);
        behind.is_some_and(|behind| behind.trim_start().starts_with('='))
    };
    let new = format!("hash = \"{hash}\"\n");
    let at = lines.iter().position(|line| is_key(line, "hash"));
    let end = lines
        .iter()
        .position(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        if at.is_none() && end == Some(number) {
            text.push_str(&new);
        }
        if at == Some(number) {
            text.push_str(&new);
        } else if !is_key(line, "as_run") {
            text.push_str(line);
        }
    }
    if at.is_none() && end.is_none() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&new);
    }
    text
}

impl HistoricalIssue {
    /// Where it is discussed.
    pub fn thread(&self) -> IssueThread<'_> {
        match (&self.repository, self.number, &self.thread) {
            (Some(repo), Some(number), _) => IssueThread::GitHub(repo, number),
            (_, _, thread) => IssueThread::Elsewhere(thread.as_deref().unwrap_or_default()),
        }
    }

    /// How the hash of its code compares with the recorded one.
    pub fn compare(&self, hash: &str) -> HashComparison {
        match &self.hash {
            None => HashComparison::Unrecorded,
            Some(recorded) if recorded == hash => HashComparison::Same,
            Some(_) if self.as_run => HashComparison::Completed,
            Some(_) => HashComparison::Changed,
        }
    }

    /// Why it is not a sound entry.
    fn fault(&self) -> Option<&'static str> {
        let is_name = |text: &str| {
            let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
            !text.is_empty() && !text.starts_with('.') && text.chars().all(is_part)
        };
        let is_hash = |hash: &String| {
            let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
            hash.len() == 64 && hash.bytes().all(is_digit)
        };
        let on_github = self.repository.is_some() && self.number.is_some();
        let mentioned = self.repository.is_some() || self.number.is_some();
        if !is_name(&self.id) {
            Some("has an id that is no name of a file")
        } else if mentioned != on_github || on_github == self.thread.is_some() {
            Some("needs either `repository` and `number`, or `thread`")
        } else if self.kind.trim().is_empty() {
            Some("has no kind")
        } else if self.versions.is_empty() {
            Some("names no version that shows it")
        } else if self.hash.as_ref().is_some_and(|hash| !is_hash(hash)) {
            Some("has a hash that is not 64 hexadecimal digits")
        } else if self.best == Some(0) || self.keep.iter().any(|part| part.trim().is_empty()) {
            Some("has an empty `keep` or a `best` of 0")
        } else {
            None
        }
    }
}

/// The SHA-256 of a text, in hexadecimal digits.
pub fn hash_of(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "# facts\n[[issue]]\nid = \"a-1\"\nrepository = \"o/r\"\nnumber = 1\n\
        kind = \"crash\"\nversions = { CPython = \"3.13.0\" }\npython = \"==3.13\"\n";

    fn parsed(text: &str) -> String {
        match IssueList::parse(text) {
            Ok(list) => format!("{} issues", list.issues.len()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_hash_is_that_of_sha256sum() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_of("abc"), expected);
    }

    #[test]
    fn entries_must_be_sound() {
        assert_eq!(parsed(ONE), "1 issues");
        for (from, to, fault) in [
            ("number = 1\n", "", "needs either"),
            (
                "number = 1\n",
                "number = 1\nthread = \"x\"\n",
                "needs either",
            ),
            ("\"a-1\"", "\"../a\"", "no name of a file"),
            ("{ CPython = \"3.13.0\" }", "{}", "names no version"),
            ("number", "hash = \"12\"\nnumber", "64 hexadecimal digits"),
            ("number", "best = 0\nnumber", "a `best` of 0"),
            ("number", "script = \"x\"\nnumber", "not a list of issues"),
        ] {
            let found = parsed(&ONE.replacen(from, to, 1));
            assert!(found.contains(fault), "{fault}: {found}");
        }
        assert_eq!(parsed(&ONE.repeat(2)), "the issue `a-1` occurs twice");
        let elsewhere = ONE.replace("repository = \"o/r\"\nnumber = 1\n", "thread = \"x\"\n");
        let list = IssueList::parse(&elsewhere).unwrap();
        assert_eq!(list.issues[0].thread(), IssueThread::Elsewhere("x"));
    }

    #[test]
    fn a_hash_is_replaced_and_nothing_else() {
        let hash = hash_of("x");
        let old = hash_of("y");
        let other = ONE.replace("a-1", "a-2");
        let known = format!("hash = \"{old}\"\nas_run = true\nbest = 9 # by hand\n");
        let text = format!("{ONE}{known}\n# more\n{other}\n");
        let hashes = |id: &str| BTreeMap::from([(id.to_owned(), hash.clone())]);
        let new = IssueList::with_hashes(&text, &hashes("a-1")).unwrap();
        let kept = format!("hash = \"{hash}\"\nbest = 9 # by hand\n");
        assert_eq!(new, format!("{ONE}{kept}\n# more\n{other}\n"));
        let new = IssueList::with_hashes(&text, &hashes("a-2")).unwrap();
        assert_eq!(
            new,
            format!("{ONE}{known}\n# more\n{other}hash = \"{hash}\"\n\n")
        );
        let inline = "issue = [{ id = \"a-1\", thread = \"x\", kind = \"k\", versions = { a = \"1\" }, python = \">=3.8\" }]\n";
        assert!(matches!(
            IssueList::with_hashes(inline, &hashes("a-1")),
            Err(IssueListError::Layout(_))
        ));
    }

    #[test]
    fn the_list_of_this_repository_is_sound() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/historical/issues.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let list = IssueList::parse(&text).unwrap();
        let on_github = |issue: &&HistoricalIssue| {
            matches!(issue.thread(), IssueThread::GitHub(..)) && issue.hash.is_some()
        };
        assert!(list.issues.iter().filter(on_github).count() >= 100);
        for repo in [
            "pytorch/pytorch",
            "pandas-dev/pandas",
            "numpy/numpy",
            "python/cpython",
        ] {
            let named = |issue: &&HistoricalIssue| matches!(issue.thread(), IssueThread::GitHub(own, _) if own.to_string() == repo);
            assert!(list.issues.iter().filter(named).count() >= 3, "{repo}");
        }
    }
}
