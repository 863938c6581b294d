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
use serde::Serialize;

use crate::runner::bounds::{Bounds, Confinement};

pub(super) use namespaces::enter;

/// How a program that nests must confine the processes that it forks: see
/// `python/minrepro_confine`.
#[derive(Debug, Serialize)]
pub(in crate::runner) struct Nesting {
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

/// The confinements that may be had here, the best first.
pub(in crate::runner) fn confinements() -> Vec<Confinement> {
    let landlock = landlock::is_available();
    let alone = landlock.then_some(Confinement::Landlock);
    [Confinement::Namespaces { landlock }]
        .into_iter()
        .chain(alone)
        .collect()
}

/// Unix sockets that have to be covered one by one, as of now.
pub(in crate::runner) fn reachable_sockets(bounds: &Bounds) -> Vec<PathBuf> {
    if bounds.confinement.is_whole() {
        overlays::sockets(&bounds.overlays)
    } else {
        Vec::new()
    }
}

/// For a program within these bounds.
pub(in crate::runner) fn nesting(bounds: &Bounds, session: PathBuf, cache: PathBuf) -> Nesting {
    let namespaces = bounds.confinement.is_whole();
    let mut devices = namespaces::devices();
    // Pseudo-terminals within namespaces are the session's own.
    devices.extend(namespaces.then(|| PathBuf::from("/dev/pts")));
    let without = [
        Confinement::Namespaces { landlock: false },
        Confinement::Off,
        Confinement::Unavailable,
    ];
    let landlock = !without.contains(&bounds.confinement);
    let mut numbers = namespaces::numbers();
    numbers.extend(landlock::numbers());
    Nesting {
        namespaces,
        landlock,
        numbers,
        session,
        cache,
        devices,
        shared_memory: bounds.shared_memory,
        network: bounds.network,
        overlays: bounds.overlays.clone(),
    }
}

/// Confines this process and everything that it starts, which inherits `inherited` of its open
/// files besides the streams. Within namespaces this process is their first one, see [`enter`].
///
/// # Errors
///
/// The step that the kernel refuses.
pub(super) fn confine(bounds: &Bounds, inherited: Option<u32>) -> Result<(), String> {
    if matches!(
        bounds.confinement,
        Confinement::Off | Confinement::Unavailable
    ) {
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

/// The capabilities needed to make a confinement within another: namespaces, mounts, a loopback.
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
