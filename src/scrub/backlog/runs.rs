//! Counts the runs of scripts that a scrub takes. Called by the backlog.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    cli::Failure,
    runner::Outcome,
    scrub::script_runner::{MinimizeTask, MinimizedScript, ScriptRunner, Trial},
};

/// A runner that counts.
pub(super) struct CountingRunner<'a> {
    inner: &'a mut dyn ScriptRunner,
    count: AtomicU64,
}

impl<'a> CountingRunner<'a> {
    pub(super) fn new(inner: &'a mut dyn ScriptRunner) -> Self {
        Self {
            inner,
            count: AtomicU64::new(0),
        }
    }

    /// The runs so far.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl ScriptRunner for CountingRunner<'_> {
    fn run(&self, trials: &[Trial]) -> Vec<Result<Vec<Outcome>, Failure>> {
        let ended = self.inner.run(trials);
        let runs = ended.iter().flatten().map(|outcomes| outcomes.len() as u64);
        self.count.fetch_add(runs.sum(), Ordering::Relaxed);
        ended
    }

    fn minimize(&self, task: &MinimizeTask<'_>) -> Result<MinimizedScript, Failure> {
        let minimized = self.inner.minimize(task)?;
        self.count.fetch_add(minimized.runs, Ordering::Relaxed);
        Ok(minimized)
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn python(&self) -> PathBuf {
        self.inner.python()
    }

    fn set_python(&mut self, python: &Path) -> Result<(), Failure> {
        self.inner.set_python(python)
    }
}
