//! The memory of a scrub in its folder, which lets an interrupted scrub continue: agreements,
//! outcomes of runs, writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::issue::Repo;
use crate::{report::write_atomically, runner::Outcome};

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

    /// Saves the memory.
    pub fn keep(&self) {
        let Some(file) = &self.file else { return };
        let text = serde_json::to_vec(self).unwrap_or_default();
        // Without the file an interrupted scrub starts over. Its writes are still looked up on the
        // issue.
        let _ = write_atomically(file, &text);
    }
}
