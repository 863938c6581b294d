//! The queue of a backlog: one file of lines, of which each is an issue's whole state, the last one
//! counts. A kill leaves at most a torn last line, which is dropped. Does not know what the states
//! lead to. Called by the backlog.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::confidence::PlanConfidence;
use crate::{
    cli::{Exit, Failure},
    journal::{JournalError, LineFile},
    scrub::{issue::Repo, plan::Planned, search::FoundIssue, steps::ScrubEnd},
};

/// The version of the lines.
const VERSION: u32 = 1;

/// The file in the backlog's folder.
pub const QUEUE_FILE: &str = "queue.jsonl";

/// An issue of the backlog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BacklogEntry {
    /// Its repository.
    pub repo: Repo,
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Whether it was scrubbed.
    pub state: EntryState,
    /// The end of the scrub.
    pub end: Option<ScrubEnd>,
    /// How sure the end is.
    pub confidence: Option<PlanConfidence>,
    /// Why it ended so, or why it failed.
    pub why: String,
    /// What speaks against the highest confidence.
    pub doubts: Vec<String>,
    /// The writes.
    pub plan: Vec<Planned>,
    /// The state of the writes altogether.
    pub writes: PlanState,
    /// Problems with the writes.
    pub troubles: Vec<String>,
    /// What it took.
    pub cost: ScrubCost,
    /// Its folder, below that of the backlog.
    pub folder: PathBuf,
    /// When this changed last, in seconds since 1970.
    pub updated: u64,
}

/// What a scrub took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScrubCost {
    /// Runs of scripts.
    pub runs: u64,
    /// Seconds.
    pub seconds: f64,
}

/// Whether an issue was scrubbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryState {
    /// Not yet.
    Waiting,
    /// Begun, and not ended yet.
    Running,
    /// It has an end.
    Done,
    /// An error kept it from its end.
    Failed,
}

impl EntryState {
    /// A word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "begun",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// The state of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanState {
    /// There is nothing to write.
    Empty,
    /// It waits for the user's word.
    Waiting,
    /// The user agreed, and it is not known yet whether all is written.
    Agreed,
    /// All is written.
    Written,
    /// The user said no.
    Declined,
    /// The user agreed, but not all could be written.
    Failed,
}

impl BacklogEntry {
    fn new(found: FoundIssue) -> Self {
        let folder = PathBuf::from(&found.repo.owner)
            .join(&found.repo.name)
            .join(found.number.to_string());
        Self {
            folder,
            repo: found.repo,
            number: found.number,
            title: found.title,
            state: EntryState::Waiting,
            end: None,
            confidence: None,
            why: String::new(),
            doubts: Vec::new(),
            plan: Vec::new(),
            writes: PlanState::Empty,
            troubles: Vec::new(),
            cost: ScrubCost::default(),
            updated: now(),
        }
    }

    /// `OWNER/NAME#NUMBER`.
    pub fn name(&self) -> String {
        format!("{}#{}", self.repo, self.number)
    }

    /// The end as a word, or the state where there is none.
    pub fn ended(&self) -> String {
        match self.end {
            Some(end) => format!("{end:?}"),
            None => self.state.word().to_owned(),
        }
    }

    /// Whether its plan may be shown to the user for agreement.
    pub fn is_undecided(&self) -> bool {
        self.state == EntryState::Done
            && matches!(self.writes, PlanState::Waiting | PlanState::Failed)
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum QueueLine {
    Search { version: u32, text: String },
    Entry(Box<BacklogEntry>),
}

/// An open queue.
#[derive(Debug)]
pub struct Queue {
    file: LineFile,
    path: PathBuf,
    search: Option<String>,
    entries: Vec<BacklogEntry>,
}

/// Why a queue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// Another process works on it.
    #[error("another minrepro is at work in `{}`", .0.display())]
    InUse(PathBuf),
    /// There is none.
    #[error("there is no backlog in `{}`", .0.display())]
    Missing(PathBuf),
    /// It belongs to another search.
    #[error("the backlog in `{}` is that of another search: `{known}`", folder.display())]
    OtherSearch {
        /// The folder.
        folder: PathBuf,
        /// Its search.
        known: String,
    },
    /// A line is not one of ours.
    #[error("could not read line {line} of `{}`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// It cannot be read or written.
    #[error("could not use the backlog `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        let (exit, hint) = match &error {
            QueueError::InUse(_) => (
                Exit::Usage,
                "wait until it has ended, or name another folder: `--dir FOLDER`",
            ),
            QueueError::Missing(_) => (
                Exit::Usage,
                "make one: `minrepro scrub --search TEXT`, or name its folder: `--dir FOLDER`",
            ),
            QueueError::OtherSearch { .. } => (
                Exit::Usage,
                "name another folder: `--dir FOLDER`, or repeat the search of this one to continue it",
            ),
            QueueError::Damaged { .. } => (
                Exit::Usage,
                "a newer minrepro may have written it; name another folder: `--dir FOLDER`",
            ),
            QueueError::Io { .. } => (
                Exit::Environment,
                "make room or name another folder: `--dir FOLDER`",
            ),
        };
        Self::new(exit, error).hint(hint)
    }
}

impl Queue {
    /// Opens the queue of a search, or makes it.
    pub fn open(folder: &Path, search: &str) -> Result<Self, QueueError> {
        let path = folder.join(QUEUE_FILE);
        fs::create_dir_all(folder).map_err(|source| QueueError::Io {
            path: path.clone(),
            source,
        })?;
        let mut queue = Self::read(folder, path)?;
        match &queue.search {
            Some(known) if known != search => Err(QueueError::OtherSearch {
                folder: folder.to_owned(),
                known: known.clone(),
            }),
            Some(_) => Ok(queue),
            None => {
                queue.append(&QueueLine::Search {
                    version: VERSION,
                    text: search.to_owned(),
                })?;
                queue.search = Some(search.to_owned());
                Ok(queue)
            }
        }
    }

    /// Opens the queue that is in a folder.
    pub fn existing(folder: &Path) -> Result<Self, QueueError> {
        let path = folder.join(QUEUE_FILE);
        if !path.is_file() {
            return Err(QueueError::Missing(folder.to_owned()));
        }
        Self::read(folder, path)
    }

    fn read(folder: &Path, path: PathBuf) -> Result<Self, QueueError> {
        let (file, text) = LineFile::open(&path).map_err(|error| match error {
            JournalError::InUse { .. } => QueueError::InUse(folder.to_owned()),
            JournalError::Io { path, source } => QueueError::Io { path, source },
        })?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut queue = Self {
            file,
            path,
            search: None,
            entries: Vec::new(),
        };
        for (at, line) in text[..whole].lines().enumerate() {
            match serde_json::from_str(line) {
                Ok(QueueLine::Search { text, .. }) => queue.search = Some(text),
                Ok(QueueLine::Entry(entry)) => queue.replace(*entry),
                Err(source) => {
                    return Err(QueueError::Damaged {
                        path: queue.path,
                        line: at + 1,
                        source,
                    });
                }
            }
        }
        if whole < text.len() {
            queue.file.keep(whole as u64).map_err(|error| match error {
                JournalError::Io { path, source } => QueueError::Io { path, source },
                JournalError::InUse { path } => QueueError::InUse(path),
            })?;
        }
        Ok(queue)
    }

    /// The search.
    pub fn search(&self) -> &str {
        self.search.as_deref().unwrap_or_default()
    }

    /// All issues, in the order in which they were found.
    pub fn entries(&self) -> &[BacklogEntry] {
        &self.entries
    }

    /// Adds the issues that are not in the queue; returns how many these are.
    pub(super) fn add(&mut self, found: Vec<FoundIssue>) -> Result<usize, QueueError> {
        let before = self.entries.len();
        for issue in found {
            if self.position(&issue.repo, issue.number).is_none() {
                self.put(BacklogEntry::new(issue))?;
            }
        }
        Ok(self.entries.len() - before)
    }

    /// Records the state of an issue. Once this returns, a kill loses nothing of it.
    pub fn put(&mut self, mut entry: BacklogEntry) -> Result<(), QueueError> {
        entry.updated = now();
        let line = QueueLine::Entry(Box::new(entry));
        self.append(&line)?;
        if let QueueLine::Entry(entry) = line {
            self.replace(*entry);
        }
        Ok(())
    }

    fn append(&mut self, line: &QueueLine) -> Result<(), QueueError> {
        let failed = |source| QueueError::Io {
            path: self.path.clone(),
            source,
        };
        let text = serde_json::to_string(line).map_err(|error| failed(error.into()))?;
        self.file
            .append(&text)
            .and_then(|()| self.file.sync())
            .map_err(failed)
    }

    fn position(&self, repo: &Repo, number: u64) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| entry.number == number && entry.repo == *repo)
    }

    fn replace(&mut self, entry: BacklogEntry) {
        match self.position(&entry.repo, entry.number) {
            Some(at) => self.entries[at] = entry,
            None => self.entries.push(entry),
        }
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn found(number: u64) -> FoundIssue {
        FoundIssue {
            repo: "o/r".parse().unwrap(),
            number,
            title: format!("issue {number}"),
        }
    }

    #[test]
    fn the_last_state_counts_and_a_torn_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = Queue::open(folder.path(), "is:open").unwrap();
        assert_eq!(queue.add(vec![found(1), found(2)]).unwrap(), 2);
        let mut entry = queue.entries()[0].clone();
        entry.state = EntryState::Done;
        entry.end = Some(ScrubEnd::Minimized);
        queue.put(entry).unwrap();
        drop(queue);
        let path = folder.path().join(QUEUE_FILE);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"entry\": {\"repo\": \"o/r\", \"numb")
            .unwrap();
        drop(file);
        let mut queue = Queue::open(folder.path(), "is:open").unwrap();
        assert_eq!(queue.entries()[0].end, Some(ScrubEnd::Minimized));
        assert_eq!(queue.entries()[1].state, EntryState::Waiting);
        assert_eq!(queue.add(vec![found(2), found(3)]).unwrap(), 1);
        drop(queue);
        let queue = Queue::existing(folder.path()).unwrap();
        let numbers: Vec<_> = queue.entries().iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(queue.search(), "is:open");
    }

    #[test]
    fn another_process_another_search_and_foreign_lines_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            Queue::existing(folder.path()),
            Err(QueueError::Missing(_))
        ));
        let queue = Queue::open(folder.path(), "a").unwrap();
        assert!(matches!(
            Queue::open(folder.path(), "a"),
            Err(QueueError::InUse(_))
        ));
        drop(queue);
        assert!(matches!(
            Queue::open(folder.path(), "b"),
            Err(QueueError::OtherSearch { .. })
        ));
        let path = folder.path().join(QUEUE_FILE);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"future\": 1}\n").unwrap();
        assert!(matches!(
            Queue::open(folder.path(), "a"),
            Err(QueueError::Damaged { line: 2, .. })
        ));
    }
}
