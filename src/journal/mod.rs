//! The append-only journal of a reduction: every candidate with its verdict. A rerun of the same
//! command repeats nothing that an earlier one has tried, even if that one was killed. Called by
//! the engine and the commands.

mod file;
mod inputs;

use std::{
    collections::{BTreeMap, HashMap},
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use minrepro_reducers::trace::evidence::Evidence;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::oracle::{Seed, SequentialTest, Signature, Verdict};
pub(crate) use file::LineFile;
pub use file::{JournalError, cache_folder, journals_folder, named_journals_folder};
pub(crate) use inputs::{fingerprint, state_of_files};

/// The content of a candidate: BLAKE3 of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Key([u8; 32]);

impl Key {
    /// The key of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl FromStr for Key {
    type Err = blake3::HexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text).map(|hash| Self(hash.into()))
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for Key {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// The verdict on a candidate and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The verdict.
    pub verdict: Verdict,
    /// Wall time of the runs, in seconds.
    pub seconds: f64,
    /// How many runs it took, control runs included.
    #[serde(default = "one")]
    pub runs: u64,
}

fn one() -> u64 {
    1
}

/// The findings of the baseline runs, kept so that a rerun uses the same standard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineRecord {
    /// The sign of the bug; `None` where the user's own test judges.
    pub signature: Option<Signature>,
    /// The slowest baseline run.
    pub wall: Duration,
    /// The fastest baseline run.
    #[serde(default)]
    pub fastest: Duration,
    /// The time limit of a candidate, if the bug is that the program does not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Duration>,
    /// The findings of the applicable checks about the script, by their names.
    #[serde(default)]
    pub checks: BTreeMap<String, Value>,
    /// How candidates are tested, and how often the script showed the bug in how many runs, if it
    /// does not show each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaky: Option<(SequentialTest, usize, usize)>,
    /// The seed that makes the bug show each time, if it needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stabilizer: Option<Seed>,
    /// Why all runs are cold, if something was found that speaks against warm ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<String>,
    /// The files of modules that the script imported, and a value that changes when one of them
    /// does.
    #[serde(default)]
    pub imported: (Vec<PathBuf>, String),
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Baseline(BaselineRecord),
    Tried(Key, TrialRecord),
    Traced(Key, Option<Evidence>),
    Distrusted(String),
    Unaccepted(Key),
}

/// All records of one reduction.
#[derive(Debug, Default)]
pub struct Journal {
    baseline: Option<BaselineRecord>,
    records: HashMap<Key, TrialRecord>,
    traces: HashMap<Key, Option<Evidence>>,
    file: Option<LineFile>,
}

impl Journal {
    /// A journal that is not written to a file.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The journal of this identity in a folder, with all its records, locked against other
    /// processes.
    ///
    /// A last line that was torn when its writer was killed is dropped, and so is everything after
    /// a damaged line.
    pub fn open(folder: &Path, identity: &str) -> Result<Self, JournalError> {
        let (file, text) = LineFile::of_identity(folder, identity)?;
        let mut journal = Self::default();
        let mut trusted = 0;
        for line in text.split_inclusive('\n') {
            match serde_json::from_str(line)
                .ok()
                .filter(|_| line.ends_with('\n'))
            {
                Some(Line::Baseline(record)) => journal.baseline = Some(record),
                Some(Line::Tried(key, record)) => {
                    journal.records.insert(key, record);
                }
                Some(Line::Traced(key, evidence)) => {
                    journal.traces.insert(key, evidence);
                }
                Some(Line::Distrusted(reason)) => journal.forget(reason),
                Some(Line::Unaccepted(key)) => journal.unaccept(&key),
                None => break,
            }
            trusted += line.len();
        }
        file.keep(trusted as u64)?;
        journal.file = Some(file);
        Ok(journal)
    }

    /// The findings of the baseline runs.
    pub fn baseline(&self) -> Option<&BaselineRecord> {
        self.baseline.as_ref()
    }

    /// Forgets everything, because the records are no longer true.
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub fn start_over(&mut self) -> io::Result<()> {
        self.baseline = None;
        self.records.clear();
        self.traces.clear();
        let file = self.file.as_ref();
        file.map_or(Ok(()), |file| file.keep(0))
            .map_err(io::Error::other)
    }

    /// Records the findings of the baseline runs.
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub fn put_baseline(&mut self, record: BaselineRecord) -> io::Result<()> {
        let line = Line::Baseline(record.clone());
        self.baseline = Some(record);
        self.append(&line)
    }

    /// The evidence of a traced run of a candidate, if it was traced. The inner option is empty if
    /// tracing changed its behaviour.
    pub fn trace(&self, key: &Key) -> Option<Option<Evidence>> {
        self.traces.get(key).cloned()
    }

    /// Records the evidence of a traced run of a candidate.
    pub fn put_trace(&mut self, key: Key, evidence: Option<Evidence>) -> io::Result<()> {
        let line = Line::Traced(key, evidence.clone());
        self.traces.insert(key, evidence);
        self.append(&line)
    }

    /// Withdraws all records of candidates, since warm runs cannot be trusted for this script. From
    /// here on, all runs are cold.
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub fn distrust(&mut self, reason: &str) -> io::Result<()> {
        self.forget(reason.to_owned());
        self.append(&Line::Distrusted(reason.to_owned()))
    }

    /// Withdraws all records of candidates that showed the bug, since chance played a part and this
    /// candidate does not show it. This one is refused from here on.
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub fn refuse_accepted(&mut self, key: &Key) -> io::Result<()> {
        self.unaccept(key);
        self.append(&Line::Unaccepted(*key))
    }

    fn unaccept(&mut self, key: &Key) {
        if let Some(record) = self.records.get_mut(key) {
            record.verdict = Verdict::Passed;
        }
        self.records.retain(|_, record| !record.verdict.is_same());
    }

    fn forget(&mut self, reason: String) {
        self.records.clear();
        self.traces.clear();
        if let Some(baseline) = &mut self.baseline {
            baseline.cold = Some(reason);
        }
    }

    /// Forgets the verdicts that this limit would change: timeouts under a shorter one, and runs
    /// that took longer.
    pub fn forget_what_a_limit_decides(&mut self, limit_ms: u64) {
        self.records.retain(|_, record| match record.verdict {
            Verdict::TimedOut(limit) => limit >= limit_ms,
            _ => record.seconds * 1000.0 <= limit_ms as f64,
        });
    }

    /// How many candidates are known from an earlier session; to be asked before this one begins.
    pub fn recalled(&self) -> usize {
        self.records.len()
    }

    /// The record of a candidate.
    pub fn get(&self, key: &Key) -> Option<&TrialRecord> {
        self.records.get(key)
    }

    /// Records a candidate, at once.
    ///
    /// # Errors
    ///
    /// The file could not be written; the record is known all the same until the end of this
    /// process.
    pub fn put(&mut self, key: Key, record: TrialRecord) -> io::Result<()> {
        let line = Line::Tried(key, record.clone());
        self.records.insert(key, record);
        self.append(&line)
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.append(&serde_json::to_string(line).map_err(io::Error::other)?),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn record(verdict: Verdict) -> TrialRecord {
        TrialRecord {
            verdict,
            seconds: 0.5,
            runs: 1,
        }
    }

    fn path(folder: &Path) -> std::path::PathBuf {
        let mut files = folder.read_dir().unwrap();
        files.next().unwrap().unwrap().path()
    }

    #[test]
    fn records_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (Key::of(b"one"), Key::of(b"two"));
        let mut journal = Journal::open(folder.path(), "id").unwrap();
        journal
            .put_baseline(BaselineRecord {
                signature: None,
                wall: Duration::from_millis(7),
                fastest: Duration::from_millis(5),
                limit: None,
                checks: BTreeMap::new(),
                flaky: None,
                stabilizer: None,
                cold: None,
                imported: Default::default(),
            })
            .unwrap();
        journal.put(one, record(Verdict::Same)).unwrap();
        journal.put(two, record(Verdict::TimedOut(10_000))).unwrap();
        drop(journal);
        let mut journal = Journal::open(folder.path(), "id").unwrap();
        assert_eq!(journal.baseline().unwrap().wall, Duration::from_millis(7));
        assert_eq!(journal.get(&one), Some(&record(Verdict::Same)));
        journal.forget_what_a_limit_decides(10_000);
        assert!(journal.get(&one).is_some() && journal.get(&two).is_some());
        journal.forget_what_a_limit_decides(10_001);
        assert!(journal.get(&one).is_some() && journal.get(&two).is_none());
        journal.forget_what_a_limit_decides(499);
        assert!(journal.get(&one).is_none());
        assert!(
            Journal::open(folder.path(), "other")
                .unwrap()
                .get(&one)
                .is_none()
        );
    }

    #[test]
    fn verdicts_accepted_by_chance_are_withdrawn() {
        let folder = tempfile::tempdir().unwrap();
        let (refused, accepted, refuted) = (Key::of(b"one"), Key::of(b"two"), Key::of(b"three"));
        let mut journal = Journal::open(folder.path(), "id").unwrap();
        journal
            .put(refused, record(Verdict::TimedOut(10_000)))
            .unwrap();
        journal.put(accepted, record(Verdict::Same)).unwrap();
        journal.put(refuted, record(Verdict::Same)).unwrap();
        journal.refuse_accepted(&refuted).unwrap();
        drop(journal);
        let journal = Journal::open(folder.path(), "id").unwrap();
        assert_eq!(
            journal.get(&refused),
            Some(&record(Verdict::TimedOut(10_000)))
        );
        assert_eq!(journal.get(&accepted), None);
        assert_eq!(journal.get(&refuted), Some(&record(Verdict::Passed)));
    }

    #[test]
    fn a_torn_line_is_dropped_wherever_it_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<Key> = (0..3u8).map(|n| Key::of(&[n])).collect();
        let mut journal = Journal::open(folder.path(), "id").unwrap();
        for key in &keys {
            journal.put(*key, record(Verdict::Passed)).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(path(folder.path())).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
        for length in 0..whole.len() {
            let file = std::fs::File::create(path(folder.path())).unwrap();
            (&file).write_all(&whole[..length]).unwrap();
            let complete = ends.iter().filter(|&&end| end < length).count();
            let mut journal = Journal::open(folder.path(), "id").unwrap();
            for (number, key) in keys.iter().enumerate() {
                assert_eq!(
                    journal.get(key).is_some(),
                    number < complete,
                    "cut at {length}"
                );
            }
            journal.put(Key::of(b"new"), record(Verdict::Same)).unwrap();
            drop(journal);
            let journal = Journal::open(folder.path(), "id").unwrap();
            assert!(journal.get(&Key::of(b"new")).is_some(), "cut at {length}");
        }
    }

    #[test]
    fn a_journal_in_use_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let first = Journal::open(folder.path(), "id").unwrap();
        assert!(matches!(
            Journal::open(folder.path(), "id"),
            Err(JournalError::InUse { .. })
        ));
        drop(first);
        assert!(Journal::open(folder.path(), "id").is_ok());
    }
}
