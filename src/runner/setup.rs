//! The settings that all runs of a session share. Owns no file and no process; made by the
//! commands.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use super::covered::Covered;

/// The settings of all runs of one session.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program to start.
    pub command: Command,
    /// The user's script: names the candidate in the scratch folder, and its folder holds the
    /// siblings.
    pub script: PathBuf,
    /// The standard input of every run; nothing if it is empty.
    pub input: Option<Arc<[u8]>>,
    /// Variables set for every run (`--env`), on top of the environment.
    pub env: Vec<(String, String)>,
    /// The part of the user's environment that runs get.
    pub inherited: Inherited,
    /// Limits other than time.
    pub limits: Limits,
    /// How many runs at a time.
    pub jobs: usize,
    /// How hard runs are confined.
    pub sandbox: Sandbox,
    /// The additional permissions of confined runs.
    pub allowed: Allowed,
    /// The files besides the script that traced runs look into.
    pub covered: Covered,
    /// The minrepro executable, which serves as supervisor of each run.
    pub supervisor: PathBuf,
}

/// The program that a candidate is run by.
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

/// Limits of one run.
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

/// The part of the user's environment that runs get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inherited {
    /// All but secrets.
    #[default]
    Users,
    /// Only variables that neither mislead a stranger's script nor change its messages.
    Scrubbed,
}

/// The additional permissions of confined runs, given by the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Use the network.
    pub network: bool,
    /// Write to these folders, each run in a copy of its own that is thrown away.
    pub folders: Vec<PathBuf>,
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
