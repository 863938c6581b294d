//! How the program ends: exit statuses, and failures with what to do about them.

use std::process::ExitCode;

use crate::runner::RunError;

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done and confirmed, also when nothing could go.
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
    /// A security concern without the user's word.
    Refused,
    /// A bug of ours.
    Bug,
    /// A signal of this number asked for the end.
    Interrupted(i32),
}

impl Exit {
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
            Self::Bug => 70,
            Self::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(130),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command failed, with the exit status and a hint what to do.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub exit: Exit,
    /// What failed and why.
    pub error: anyhow::Error,
    /// Shown between the error and the hint: what was seen.
    pub details: Vec<String>,
    /// What to do about it.
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
                Some("name an interpreter by `--python PATH`"),
            ),
            RunError::PythonBroken { .. } | RunError::PythonTooOld { .. } => (
                Exit::Environment,
                Some("name another interpreter by `--python PATH`"),
            ),
            RunError::NotStarted { .. } => (
                Exit::Environment,
                Some("is it there, and may it be executed? A shell script needs a `#!` line"),
            ),
            RunError::NoSandbox(_) => (
                Exit::Environment,
                Some(
                    "`--sandbox auto` confines runs as far as this system allows and says how far",
                ),
            ),
            RunError::Interrupted(signal) => (Exit::Interrupted(*signal), None),
            RunError::Deadline => (Exit::Stopped, Some("give more by `--max-time TIME`")),
            error if error.is_disk_full() => (
                Exit::Environment,
                Some("the disk is full: make room, or name another folder by `TMPDIR`"),
            ),
            RunError::Scratch { .. } => (
                Exit::Environment,
                Some("scratch folders are made below `TMPDIR`; name one that can be written"),
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
