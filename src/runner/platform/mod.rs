//! The seam to the operating system: all that Linux alone offers lies below this folder. `linux`
//! confines runs, sees their processes and forks warm ones. `plain` stands in for it elsewhere, by
//! what every Unix has: a run is a process group with limits on its time and on its files, cold and
//! unconfined. Both offer the same functions; called by the files of the runner.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod plain;
// Compiled for tests on Linux, too: there it can be tried.
#[cfg(any(test, not(target_os = "linux")))]
mod process_group;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use plain as system;

pub use system::machine_memory;
pub(super) use system::{
    adopt_orphans, carry_out, confinements, end_strays, make_pipe, nesting, reachable_sockets,
    umask,
};

/// Why no run is warm, where none can be.
pub(super) const ALWAYS_COLD: Option<&str> = if cfg!(target_os = "linux") {
    None
} else {
    Some("runs are warm on Linux only")
};

/// Why runs are not confined, where they are not.
pub(super) const NO_CONFINEMENT: &str = if cfg!(target_os = "linux") {
    "this system allows neither namespaces nor Landlock"
} else {
    "runs are confined on Linux only"
};
