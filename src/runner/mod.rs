//! Runs programs and says what they did: the only room that starts processes.
//!
//! A run is never an error of ours, whatever it does; failing to start one is. Called by the oracle
//! and the commands.

mod aside;
mod capture;
mod cold;
mod environment;
mod error;
mod inside;
mod interpreter;
mod nursery;
mod outcome;
mod python;
mod sandbox;
mod scratch;
mod stack;
mod supervise;
pub mod traceback;
mod tree;
mod warm;

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

pub use aside::Room;
pub use cold::Runner;
pub use error::RunError;
pub use interpreter::Interpreter;
pub use outcome::{Captured, End, Exception, Frame, Outcome, Resource};
pub use sandbox::Confinement;
pub use supervise::supervise;

/// What stays the same for every run of one session.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What is started.
    pub command: Command,
    /// The user's script: names the candidate in the scratch folder, and its folder holds the
    /// siblings.
    pub script: PathBuf,
    /// Variables set for every run (`--env`), on top of the scrubbed environment.
    pub env: Vec<(String, String)>,
    /// Limits other than time.
    pub limits: Limits,
    /// How many runs at a time.
    pub jobs: usize,
    /// How hard runs are confined.
    pub sandbox: Sandbox,
    /// The minrepro executable, which serves as supervisor of each run.
    pub supervisor: PathBuf,
}

/// What is started for a candidate.
#[derive(Clone, Debug)]
pub enum Command {
    /// The script, by an interpreter.
    Python {
        /// The interpreter, as an absolute path.
        python: PathBuf,
        /// The script's own arguments.
        args: Vec<OsString>,
    },
    /// An interestingness test: these words, then the candidate's path.
    Test(Vec<String>),
}

/// Limits on what one run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Resident memory of the process tree, in bytes.
    pub memory: u64,
    /// Processes in the tree.
    pub processes: u32,
    /// Size of any file written, in bytes.
    pub file_size: u64,
    /// Size of the scratch folder, in bytes.
    pub scratch: u64,
    /// How much of each output stream is kept at its head and again at its tail, in bytes.
    pub output: usize,
}

/// How hard runs are confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// As far as this system can.
    #[default]
    Auto,
    /// Confined in full, or not run at all.
    Require,
    /// Not confined.
    Off,
}

/// One run: these bytes as the script, under this time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The script's bytes, in its own encoding.
    pub source: Arc<[u8]>,
    /// Wall-time limit.
    pub timeout: Duration,
    /// For how long nothing of the run may do anything but wait; it has timed out then. `None`: as
    /// long as it likes.
    pub idle: Option<Duration>,
    /// Whether what the script does is written down on the way. Only [`Command::Python`] can be
    /// traced.
    pub traced: bool,
    /// Texts that a traced run shows where it prints them.
    pub sought: Arc<[String]>,
    /// Where a traced run died, files and lines, outermost first: a process that dies writes
    /// nothing down, so all that is known when it comes there is written down each time.
    pub doomed: Arc<[(String, u32)]>,
    /// From where the run starts; with variables of its own always in a fresh interpreter.
    pub start: Start,
    /// Variables that are set, or not set, besides those of all runs.
    pub variables: Arc<[(String, Option<String>)]>,
}

/// From where a run starts. What can not be had warm is had cold; [`Runner::why_cold`] says why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A fresh interpreter.
    #[default]
    Cold,
    /// An interpreter that has imported nothing; what this run imports is what warm runs then find
    /// imported.
    Recorded,
    /// An interpreter that has imported what a recorded run imported.
    Warm,
}

impl Job {
    /// A plain run.
    pub fn new(source: Arc<[u8]>, timeout: Duration) -> Self {
        Self {
            source,
            timeout,
            idle: None,
            traced: false,
            sought: Arc::default(),
            doomed: Arc::default(),
            start: Start::Cold,
            variables: Arc::default(),
        }
    }
}
