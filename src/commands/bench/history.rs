//! The history of `bench --historical`: a row for each issue and run of the bench, appended to a
//! file of lines. The only file that knows how rows are stored.

use std::{
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::journal::{JournalError, LineFile, cache_folder};

/// The result of minimizing an issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HistoryRow {
    /// The commit of minrepro, or its version if the build does not know its commit.
    pub(super) commit: String,
    /// The name that the user gave to the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// The issue.
    pub(super) issue: String,
    /// When the issue was done.
    pub(super) date: String,
    /// The size of the script, in tokens.
    pub(super) before: u32,
    /// The size of the result; none if there is no result.
    pub(super) tokens: Option<u32>,
    /// Candidate runs.
    pub(super) runs: u64,
    pub(super) seconds: f64,
    /// Whether the result was verified, in a word.
    pub(super) verdict: String,
}

/// The rows of all runs.
pub(super) struct BenchHistory {
    rows: Vec<HistoryRow>,
    file: LineFile,
}

impl BenchHistory {
    /// Where it is if the user names no file.
    pub(super) fn default_path() -> Option<PathBuf> {
        Some(cache_folder()?.join("history.jsonl"))
    }

    /// Opens it, or makes an empty one. A last line that was torn when its writer was killed is
    /// dropped; other lines that are no rows are passed over.
    pub(super) fn open(path: &Path) -> Result<Self, JournalError> {
        let (file, text) = LineFile::open(path)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.keep(whole as u64)?;
        let lines = text[..whole].lines();
        let rows = lines.filter_map(|line| serde_json::from_str(line).ok());
        Ok(Self {
            rows: rows.collect(),
            file,
        })
    }

    /// Appends a row.
    pub(super) fn add(&mut self, row: HistoryRow) -> io::Result<()> {
        let line = serde_json::to_string(&row).map_err(io::Error::other)?;
        self.file.append(&line)?;
        self.rows.push(row);
        Ok(())
    }

    /// The latest row of each issue under a name, or else of a commit, in the order of the issues'
    /// names. A beginning of a commit is enough.
    pub(super) fn of(&self, version: &str) -> Vec<&HistoryRow> {
        let by_name = |row: &&HistoryRow| row.name.as_deref() == Some(version);
        let by_commit = |row: &&HistoryRow| version.len() >= 4 && row.commit.starts_with(version);
        let latest = |is_meant: &dyn Fn(&&HistoryRow) -> bool| {
            let mut found = std::collections::BTreeMap::new();
            for row in self.rows.iter().filter(is_meant) {
                found.insert(row.issue.as_str(), row);
            }
            found.into_values().collect::<Vec<_>>()
        };
        let named = latest(&by_name);
        if named.is_empty() {
            latest(&by_commit)
        } else {
            named
        }
    }

    /// The names and commits that have rows, the latest first.
    pub(super) fn versions(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for row in self.rows.iter().rev() {
            let version = row.name.as_deref().unwrap_or(&row.commit);
            if !found.contains(&version) {
                found.push(version);
            }
        }
        found
    }
}

/// The commit of this build, or else its version.
pub(super) fn commit() -> String {
    let build = env!("MINREPRO_BUILD");
    // The commit, its date and the target; or the target alone.
    match build.split_once(' ') {
        Some((commit, _)) => commit.to_owned(),
        None => env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Now, for a row.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::*;

    fn row(commit: &str, name: Option<&str>, issue: &str, tokens: u32) -> HistoryRow {
        HistoryRow {
            commit: commit.to_owned(),
            name: name.map(str::to_owned),
            issue: issue.to_owned(),
            date: "2026-11-27T00:00:00Z".to_owned(),
            before: 100,
            tokens: Some(tokens),
            runs: 9,
            seconds: 1.5,
            verdict: "verified".to_owned(),
        }
    }

    #[test]
    fn rows_survive_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/history.jsonl");
        let mut history = BenchHistory::open(&path).unwrap();
        history.add(row("abcdef012", None, "a", 5)).unwrap();
        drop(history);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"not a row\n{\"commit\": \"tor").unwrap();
        drop(file);
        let mut history = BenchHistory::open(&path).unwrap();
        assert_eq!(history.rows.len(), 1);
        history.add(row("abcdef012", None, "b", 6)).unwrap();
        drop(history);
        assert_eq!(BenchHistory::open(&path).unwrap().rows.len(), 2);
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("not a row\n{\"commit\":\"abcdef012\""),
            "{text}"
        );
    }

    #[test]
    fn the_latest_row_of_a_version_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = BenchHistory::open(&folder.path().join("h")).unwrap();
        for row in [
            row("abcdef012", None, "a", 5),
            row("abcdef012", None, "b", 6),
            row("abcdef012", Some("tuned"), "a", 4),
            row("999999999", None, "a", 3),
        ] {
            history.add(row).unwrap();
        }
        let sizes = |version| -> Vec<_> {
            let rows = history.of(version).into_iter();
            rows.map(|row| (row.issue.as_str(), row.tokens.unwrap()))
                .collect()
        };
        assert_eq!(sizes("abcd"), [("a", 4), ("b", 6)]);
        assert_eq!(sizes("tuned"), [("a", 4)]);
        assert_eq!(sizes("999999999"), [("a", 3)]);
        assert!(sizes("abc").is_empty() && sizes("x").is_empty());
        assert_eq!(history.versions(), ["999999999", "tuned", "abcdef012"]);
    }
}
