//! The seam to the operating system. `linux` holds all code that needs Linux: it confines runs,
//! sees their processes and forks warm ones. `plain` replaces it on other systems, with features of
//! every Unix: a run is a process group with limits on its time and its files, cold and unconfined.
//! Both offer the same functions. Called by the files of the runner.

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
