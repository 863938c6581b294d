//! What a run may touch: the confinement in force, and the bounds of one run, as data. `platform`
//! enforces them. Made by `workspace` and `confinement`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{platform::NO_CONFINEMENT, setup::Allowed};

/// The confinement in force for the runs of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confinement {
    /// Separate namespaces for each run: a file system that is read-only except for the scratch
    /// folder and the session's cache, no processes but the run's own, no network but its own
    /// loopback.
    Namespaces {
        /// Whether Landlock is there as a second wall.
        landlock: bool,
    },
    /// Landlock alone: writes only to the scratch folder, the session's cache and harmless devices.
    Landlock,
    /// Nothing: not asked for.
    Off,
    /// Nothing: the system has neither.
    Unavailable,
}

impl Confinement {
    /// The confinement in words for people, with the additional permissions.
    pub fn describe(self, allowed: &Allowed) -> String {
        match self {
            Self::Namespaces { landlock } => {
                let copies: String = allowed
                    .folders
                    .iter()
                    .map(|folder| format!(" and to a copy of `{}`", folder.display()))
                    .collect();
                let network = if allowed.network {
                    "the network is open"
                } else {
                    "no network"
                };
                let second = if landlock { "Landlock, " } else { "" };
                format!(
                    "writes only to scratch folders{copies}, {network}, no other processes \
                     (namespaces, {second}seccomp)"
                )
            }
            Self::Landlock => "writes only to scratch folders and shared memory, but the network, \
                 Unix sockets, /dev/shm and message queues are open, and other processes are in \
                 sight (Landlock, seccomp; no namespaces here)"
                .to_owned(),
            Self::Off => "none (`--sandbox off`)".to_owned(),
            Self::Unavailable => format!("none ({NO_CONFINEMENT})"),
        }
    }

    /// Whether runs are confined in full.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Namespaces { .. })
    }
}

/// The bounds of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bounds {
    pub(super) confinement: Confinement,
    /// Folders that may be written.
    pub(super) writable: Vec<PathBuf>,
    /// Files and folders that must stay readable: a confinement that hides them is of no use.
    pub(super) readable: Vec<PathBuf>,
    /// Size of the private `/dev/shm`, in bytes.
    pub(super) shared_memory: u64,
    /// Whether the program confines the processes that it forks. Then it keeps the capabilities
    /// that this needs within its namespaces.
    pub(super) nests: bool,
    /// Unix sockets outside that have to be covered one by one.
    pub(super) sockets: Vec<PathBuf>,
    /// Whether the network is open, where namespaces could close it.
    pub(super) network: bool,
    /// Folders that are written to in a private copy, which namespaces alone can make.
    pub(super) overlays: Vec<PathBuf>,
}
