//! How the program ends: exit statuses, and failures with a hint about the remedy.

use std::{io, process::ExitCode};

use crate::runner::RunError;

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done and confirmed, also when nothing could be removed.
    Reduced,
    /// The input does not show the bug.
    NotReproduced,
    /// Wrong flags or files.
    Usage,
    /// A budget was spent; the best was written.
    Stopped,
    /// The bug shows too rarely.
    Unstable,
    /// A tool is missing or broken, or the disk is full.
    Environment,
    /// A security concern that the user has not accepted.
    Refused,
    /// The result shows the same words, but its cause could not be verified.
    Unverified,
    /// A bug in minrepro.
    Bug,
    /// This signal ended the command.
    Interrupted(i32),
}

impl Exit {
    /// Every status, in the order of the manual.
    pub const ALL: &'static [Self] = &[
        Self::Reduced,
        Self::NotReproduced,
        Self::Usage,
        Self::Stopped,
        Self::Unstable,
        Self::Environment,
        Self::Refused,
        Self::Unverified,
        Self::Bug,
        Self::Interrupted(2),
        Self::Interrupted(15),
    ];

    /// The status as a number.
    pub fn code(self) -> u8 {
        match self {
            Self::Reduced => 0,
            Self::NotReproduced => 1,
            Self::Usage => 2,
            Self::Stopped => 3,
            Self::Unstable => 4,
            Self::Environment => 5,
            Self::Refused => 6,
            Self::Unverified => 7,
            Self::Bug => 70,
            Self::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(130),
        }
    }

    /// The name of the status, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reduced => "reduced",
            Self::NotReproduced => "not-reproduced",
            Self::Usage => "usage",
            Self::Stopped => "stopped",
            Self::Unstable => "unstable",
            Self::Environment => "environment",
            Self::Refused => "refused",
            Self::Unverified => "unverified",
            Self::Bug => "bug",
            Self::Interrupted(15) => "terminated",
            Self::Interrupted(_) => "interrupted",
        }
    }

    /// The meaning of the status, for help and manual.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Reduced => "reduced and confirmed, also when nothing could be removed",
            Self::NotReproduced => "the script does not show the bug",
            Self::Usage => "wrong flags or files",
            Self::Stopped => "stopped by `--max-runs` or `--max-time`; the best so far was written",
            Self::Unstable => "the bug shows too rarely",
            Self::Environment => {
                "Python, a package or another tool is missing or broken, or the disk is full"
            }
            Self::Refused => "a security concern, and nobody agreed to continue",
            Self::Unverified => {
                "the result shows the same words, but its cause could not be verified; it was written"
            }
            Self::Bug => "a bug in minrepro",
            Self::Interrupted(15) => "terminated; the best so far was written",
            Self::Interrupted(_) => "interrupted; the best so far was written",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command failed, with the exit status and a hint about the remedy.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub exit: Exit,
    /// What failed and why.
    pub error: anyhow::Error,
    /// Lines between the error and the hint: the observations behind the error.
    pub details: Vec<String>,
    /// How to remedy it.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
            details: Vec::new(),
            hint: None,
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Standard output takes no more.
    pub fn unprinted(error: io::Error) -> Self {
        let error = anyhow::Error::new(error).context("could not write to standard output");
        Self::new(Exit::Environment, error)
    }

    /// Wrong flags or files.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, anyhow::anyhow!(message.into()))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let (exit, hint) = match &error {
            RunError::PythonNotFound(_) => (
                Exit::Environment,
                Some("name an interpreter with `--python PATH`"),
            ),
            RunError::PythonBroken { .. } | RunError::PythonTooOld { .. } => (
                Exit::Environment,
                Some("name another interpreter with `--python PATH`"),
            ),
            RunError::NotStarted { .. } => (
                Exit::Environment,
                Some(
                    "check that the file exists and is executable; a shell script needs a `#!` line",
                ),
            ),
            RunError::NoSandbox(_) => (
                Exit::Environment,
                Some(
                    "`--sandbox auto` confines runs as far as this system allows and reports how far",
                ),
            ),
            RunError::Interrupted(signal) => (Exit::Interrupted(*signal), None),
            RunError::Deadline => (Exit::Stopped, Some("allow more with `--max-time TIME`")),
            error if error.is_disk_full() => (
                Exit::Environment,
                Some("the disk is full: make room, or set `TMPDIR` to another folder"),
            ),
            RunError::Scratch { .. } => (
                Exit::Environment,
                Some("scratch folders are created below `TMPDIR`; set it to a writable folder"),
            ),
            RunError::Supervisor(_) => (Exit::Environment, None),
        };
        let failure = Self::new(exit, error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
