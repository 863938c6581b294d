//! Confinement of runs: what a run may touch, and by which means of the kernel. None needs
//! privileges.
//!
//! The supervisor calls [`enter`] before it starts the process that will start the program; that
//! process calls [`confine`] before it does. `confinement` tries once what works
//! here.

mod kernel;
mod landlock;
mod namespaces;
mod overlays;
mod system_calls;

use std::path::PathBuf;

use rustix::{
    fs::{Access, access},
    io::Errno,
    thread::{
        CapabilitySet, CapabilitySets, configure_capability_in_ambient_set, set_capabilities,
    },
};
use serde::{Deserialize, Serialize};

use super::setup::Allowed;

pub(super) use namespaces::enter;

/// What is in force for the runs of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confinement {
    /// Namespaces of its own for each run: a file system that is read-only but for the scratch
    /// folder and the session's cache, no processes but its own, no network but its own loopback.
    Namespaces {
        /// Whether Landlock is there as a second wall.
        landlock: bool,
    },
    /// Landlock alone: writes only to the scratch folder, the session's cache and harmless devices.
    Landlock,
    /// Nothing: not asked for.
    Off,
    /// Nothing: the kernel has neither.
    Unavailable,
}

impl Confinement {
    /// The confinement in words for people, with what is allowed besides.
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
            Self::Unavailable => {
                "none (this system allows neither namespaces nor Landlock)".to_owned()
            }
        }
    }

    /// Whether runs are confined in full.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Namespaces { .. })
    }

    /// Whether anything is in force.
    pub(super) fn is_any(self) -> bool {
        matches!(self, Self::Namespaces { .. } | Self::Landlock)
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
    /// Whether the program confines what it forks further: then it keeps the rights that this takes
    /// within its namespaces.
    pub(super) nests: bool,
    /// Unix sockets outside that have to be covered one by one.
    pub(super) sockets: Vec<PathBuf>,
    /// Whether the network is open, where namespaces could close it.
    pub(super) network: bool,
    /// Folders that are written to in a private copy, which namespaces alone can make.
    pub(super) overlays: Vec<PathBuf>,
}

/// How a program that nests is to confine what it forks: see `python/minrepro_confine`.
#[derive(Debug, Serialize)]
pub(super) struct Nesting {
    namespaces: bool,
    landlock: bool,
    /// The kernel's numbers by their names there. Python's library has few of them, and two lists
    /// would not stay the same.
    numbers: serde_json::Map<String, serde_json::Value>,
    /// The folder that the program may write, and the one below it that all it forks may write.
    session: PathBuf,
    cache: PathBuf,
    devices: Vec<PathBuf>,
    shared_memory: u64,
    network: bool,
    overlays: Vec<PathBuf>,
}

impl Bounds {
    /// Unix sockets that have to be covered one by one, as of now.
    pub(super) fn reachable_sockets(&self) -> Vec<PathBuf> {
        if self.confinement.is_whole() {
            overlays::sockets(&self.overlays)
        } else {
            Vec::new()
        }
    }

    /// For a program within these bounds.
    pub(super) fn nesting(&self, session: PathBuf, cache: PathBuf) -> Nesting {
        let namespaces = self.confinement.is_whole();
        let mut devices = namespaces::devices();
        // Pseudo-terminals within namespaces are the session's own.
        devices.extend(namespaces.then(|| PathBuf::from("/dev/pts")));
        let without = [
            Confinement::Namespaces { landlock: false },
            Confinement::Off,
            Confinement::Unavailable,
        ];
        let landlock = !without.contains(&self.confinement);
        let mut numbers = namespaces::numbers();
        numbers.extend(landlock::numbers());
        Nesting {
            namespaces,
            landlock,
            numbers,
            session,
            cache,
            devices,
            shared_memory: self.shared_memory,
            network: self.network,
            overlays: self.overlays.clone(),
        }
    }
}

/// Whether this kernel has Landlock.
pub(super) fn has_landlock() -> bool {
    landlock::is_available()
}

/// Confines this process and all it starts, which inherits `inherited` of its open files beside the
/// streams. Within namespaces it is their first process, see [`enter`].
///
/// # Errors
///
/// The step that the kernel refuses.
pub(super) fn confine(bounds: &Bounds, inherited: Option<u32>) -> Result<(), String> {
    if !bounds.confinement.is_any() {
        return Ok(());
    }
    let step = |what: &'static str| move |error: Errno| format!("{what}: {error}");
    let last = inherited.map_or(u32::MAX, |file| file - 1);
    kernel::close_on_exec(3, last).map_err(step("open files"))?;
    if let Some(file) = inherited {
        kernel::close_on_exec(file + 1, u32::MAX).map_err(step("open files"))?;
    }
    if bounds.confinement.is_whole() {
        namespaces::furnish(bounds)?;
    }
    let nests = bounds.nests && bounds.confinement.is_whole();
    keep_capabilities(match nests {
        true if bounds.overlays.is_empty() => NESTING,
        true => NESTING.union(CapabilitySet::DAC_OVERRIDE),
        false => CapabilitySet::empty(),
    })
    .map_err(step("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(step("no_new_privs"))?;
    // Whoever is under Landlock can mount nothing.
    if bounds.confinement != (Confinement::Namespaces { landlock: false }) && !nests {
        landlock::confine(bounds)?;
    }
    system_calls::filter(bounds.confinement)?;
    for path in &bounds.readable {
        access(path, Access::READ_OK).map_err(|error| format!("`{}`: {error}", path.display()))?;
    }
    Ok(())
}

/// What it takes to make a confinement within another: namespaces, mounts, a loopback.
const NESTING: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN);

/// Gives up all capabilities for good but those `kept`, which programs started from here keep, too.
fn keep_capabilities(kept: CapabilitySet) -> Result<(), Errno> {
    rustix::thread::clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().difference(kept).iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // Unknown to this kernel; or there was no right to do so, and nothing in the set that
            // could be gained.
            Ok(()) | Err(Errno::INVAL | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: kept,
    };
    set_capabilities(None, sets)?;
    kept.iter()
        .try_for_each(|capability| configure_capability_in_ambient_set(capability, true))
}
