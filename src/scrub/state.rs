//! The memory of a scrub in its folder, which lets an interrupted scrub continue: agreements,
//! outcomes of runs, writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    issue::Repo,
    tool::{ExternalTools, Interrupted},
};
use crate::{
    files::{Links, open_regular},
    report::write_atomically,
    runner::Outcome,
};

/// How often the lock of a write is tried, and after which pauses: longer than a write may take.
const LOCK_TRIES: u32 = 700;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// The memory of a scrub.
#[derive(Debug, Serialize, Deserialize)]
pub struct ScrubState {
    /// The repository.
    pub repo: Repo,
    /// Hashes of code that the user agreed to run.
    pub agreed: BTreeSet<String>,
    /// Outcomes by a hash of everything that they depend on.
    pub runs: BTreeMap<String, Vec<Outcome>>,
    /// Finished writes.
    pub written: BTreeSet<String>,
    /// The write that was begun and whose outcome is not known yet.
    pub doubt: Option<String>,
    #[serde(skip)]
    file: Option<PathBuf>,
}

impl ScrubState {
    /// Reads the memory of a folder; it is empty if the folder belongs to another repository.
    /// Outcomes are stored under everything that they depend on, agreements under the code, so both
    /// outlive a new comment.
    pub fn open(folder: &Path, repo: &Repo) -> Self {
        let file = folder.join("state.json");
        let old: Option<Self> = std::fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut state = old.filter(|old| old.repo == *repo).unwrap_or_else(|| Self {
            repo: repo.clone(),
            agreed: BTreeSet::new(),
            runs: BTreeMap::new(),
            written: BTreeSet::new(),
            doubt: None,
            file: None,
        });
        state.file = Some(file);
        state
    }

    /// All writes of a plan are done: the next scrub may repeat them.
    pub fn finish(&mut self) {
        self.written.clear();
        self.keep();
    }

    /// Records that a write is about to be carried out.
    pub fn begin(&mut self, write: &str) {
        self.doubt = Some(write.to_owned());
        self.keep();
    }

    /// Records the outcome of a write.
    pub fn settle(&mut self, write: &str, is_done: bool) {
        self.doubt = None;
        if is_done {
            self.written.insert(write.to_owned());
        }
        self.keep();
    }

    /// The lock that a write holds until it has ended, even if the scrub is killed; none if there
    /// can be no file.
    pub fn write_lock(&self) -> Option<Arc<File>> {
        let file = self.lock_file()?;
        // Whoever else holds it was waited for at the beginning.
        let _ = file.try_lock();
        Some(Arc::new(file))
    }

    fn lock_file(&self) -> Option<File> {
        let path = self.file.as_ref()?.with_file_name("write.lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        open_regular(&path, Links::Refused, &options).ok()
    }

    /// Waits for a write of an earlier scrub that was killed, since its outcome is not known before
    /// it has ended.
    pub fn wait_for_writer(&self, tools: &ExternalTools) -> Result<(), Interrupted> {
        let Some(file) = self.doubt.as_ref().and_then(|_| self.lock_file()) else {
            return Ok(());
        };
        for attempt in 0..LOCK_TRIES {
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                break;
            }
            if attempt == 0 {
                tools.note("     waiting for a write that an earlier scrub has begun");
            }
            tools.sleep(LOCK_PAUSE)?;
        }
        Ok(())
    }

    /// Saves the memory.
    pub fn keep(&self) {
        let Some(file) = &self.file else { return };
        let text = serde_json::to_vec(self).unwrap_or_default();
        // Without the file an interrupted scrub starts over. Its writes are still looked up on the
        // issue.
        let _ = write_atomically(file, &text);
    }
}
