//! Why the runs of the original script cannot be the base of a reduction. Data; the commands put it
//! into words.

use crate::{
    oracle::{BaselineError, Obstacle},
    runner::{Outcome, RunError},
};

/// Why the runs of the script as given are no base for a reduction.
#[derive(Debug, thiserror::Error)]
pub enum BaselineFailure {
    /// A run could not be made, or somebody stopped it.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The time was up before the script had ended once.
    #[error("the script did not end before the time was up")]
    Unended,
    /// The script does not show the bug, or not often enough.
    #[error("{error}")]
    NotReproduced {
        /// The expected and the actual outcome.
        error: Box<BaselineError>,
        /// The first run.
        first: Option<Box<Outcome>>,
    },
    /// Something kept the script from reaching its bug.
    #[error("the script does not reach its bug")]
    Obstructed {
        /// What did.
        obstacle: Obstacle,
        /// The first run.
        first: Box<Outcome>,
    },
    /// The script shows the bug in this run under a control, too.
    #[error("the script shows the bug under `{name}`, too")]
    ShowsUnderControl {
        /// The control as it was typed.
        name: String,
        /// The run.
        outcome: Box<Outcome>,
    },
    /// The script fails in this run under a control under which it has to succeed.
    #[error("the script does not succeed under `{name}`")]
    FailsUnderControl {
        /// The control as it was typed.
        name: String,
        /// The run.
        outcome: Box<Outcome>,
    },
    /// The user's test does not find the script interesting in each run.
    #[error("the test finds the script interesting in {same} of {of} runs")]
    NotInteresting {
        /// How many runs it found interesting.
        same: usize,
        /// How many runs there were.
        of: usize,
        /// A run that it did not find interesting.
        other: Box<Outcome>,
    },
    /// Candidates were to be run warm whatever happens, and cannot be.
    #[error("candidates cannot be run warm: {0}")]
    NotWarm(String),
}
