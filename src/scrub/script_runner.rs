//! Where the flow runs and minimizes scripts: an interface that the commands implement with the
//! sessions and the reduction of the other verbs.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{cli::Failure, engine::WhyKept, runner::Outcome};

/// A program that an interpreter runs several times.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The interpreter, unless it is the user's.
    pub python: Option<PathBuf>,
    /// The program.
    pub code: String,
    /// Variables for it.
    pub env: Vec<(String, String)>,
    /// The number of runs.
    pub times: usize,
    /// The time limit of each run.
    pub timeout: Duration,
}

/// What to minimize, and how.
#[derive(Clone, Copy, Debug)]
pub struct MinimizeTask<'a> {
    /// The script.
    pub script: &'a Path,
    /// The signature of its bug, as typed.
    pub signature: &'a [String],
    /// Variables for it.
    pub env: &'a [(String, String)],
    /// An interpreter without the bug: the script succeeds in it.
    pub good: Option<&'a Path>,
    /// The file for the result.
    pub output: &'a Path,
}

/// A minimized script.
#[derive(Clone, Debug)]
pub struct MinimizedScript {
    /// Its text.
    pub text: String,
    /// Tokens before and after.
    pub tokens: (u32, u32),
    /// The reason why each part stays.
    pub kept: Vec<WhyKept>,
    /// Whether nothing was left undone.
    pub is_whole: bool,
    /// The number of runs that it took now.
    pub runs: u64,
}

/// Runs and minimizes programs. The commands implement it, since the flow is below them.
pub trait ScriptRunner {
    /// Runs all, several at the same time.
    fn run(&self, trials: &[Trial]) -> Vec<Result<Vec<Outcome>, Failure>>;
    /// Minimizes a script.
    fn minimize(&self, task: &MinimizeTask<'_>) -> Result<MinimizedScript, Failure>;
    /// The interpreter and its packages: verdicts depend on them, too.
    fn identity(&self) -> String;
    /// The interpreter.
    fn python(&self) -> PathBuf;
    /// Uses another interpreter from now on.
    fn set_python(&mut self, python: &Path) -> Result<(), Failure>;
}
