//! What a scrub remembers in its folder, so that one that was interrupted goes on where it was:
//! what was agreed to, what runs did, what was written.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::issue::Repo;
use crate::{report::write_atomically, runner::Outcome};

/// What is remembered.
#[derive(Debug, Serialize, Deserialize)]
pub struct ScrubState {
    /// The repository.
    pub repo: Repo,
    /// Code that the user agreed to run, by its hash.
    pub agreed: BTreeSet<String>,
    /// Outcomes, by a hash of all that they depend on.
    pub runs: BTreeMap<String, Vec<Outcome>>,
    /// Writes that were done.
    pub written: BTreeSet<String>,
    /// The write that was begun and not yet seen to be done.
    pub doubt: Option<String>,
    #[serde(skip)]
    file: Option<PathBuf>,
}

impl ScrubState {
    /// What is remembered in a folder; nothing if it is about another repository. Outcomes are kept
    /// under all that they depend on, agreements under the code: both outlive a new comment.
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

    /// All writes of a plan were done: the next scrub may do the same again.
    pub fn finish(&mut self) {
        self.written.clear();
        self.keep();
    }

    /// A write is about to be carried out.
    pub fn begin(&mut self, write: &str) {
        self.doubt = Some(write.to_owned());
        self.keep();
    }

    /// It is known what became of it.
    pub fn settle(&mut self, write: &str, is_done: bool) {
        self.doubt = None;
        if is_done {
            self.written.insert(write.to_owned());
        }
        self.keep();
    }

    /// Writes it down.
    pub fn keep(&self) {
        let Some(file) = &self.file else { return };
        let text = serde_json::to_vec(self).unwrap_or_default();
        // Without it a scrub that is interrupted begins anew; writes are still looked up on the
        // issue.
        let _ = write_atomically(file, &text);
    }
}
