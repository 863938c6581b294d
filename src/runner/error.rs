//! Why a run could not be started or was given up. What a program does is never an error: see
//! `outcome`.

use std::{io, path::PathBuf};

/// Why nothing could be run, or a run was stopped from outside.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The interpreter is not there.
    #[error("no interpreter at `{}`", .0.display())]
    PythonNotFound(PathBuf),
    /// The interpreter cannot be started, or does not answer as Python does.
    #[error("`{}` does not work as a Python interpreter: {reason}", python.display())]
    PythonBroken {
        /// The interpreter.
        python: PathBuf,
        /// Its behaviour instead.
        reason: String,
    },
    /// The interpreter is too old.
    #[error("`{}` is Python {version}; 3.8 is the oldest that is supported", python.display())]
    PythonTooOld {
        /// The interpreter.
        python: PathBuf,
        /// Its version.
        version: String,
    },
    /// The command of a run cannot be started.
    #[error("could not start `{command}`: {reason}")]
    NotStarted {
        /// The command.
        command: String,
        /// Why.
        reason: String,
    },
    /// The scratch folder cannot be made or filled.
    #[error("could not prepare the scratch folder `{}`", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The helper process that watches over a run does not work.
    #[error("the process that watches over runs failed")]
    Supervisor(#[source] io::Error),
    /// Confinement was required, and this system does not allow all of it.
    #[error("runs cannot be confined in full here: {0}")]
    NoSandbox(String),
    /// A signal asked for the end.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
    /// The time budget is spent.
    #[error("the time budget is spent")]
    Deadline,
}

impl RunError {
    /// Whether a full disk is the cause.
    pub fn is_disk_full(&self) -> bool {
        let (Self::Scratch { source, .. } | Self::Supervisor(source)) = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}
