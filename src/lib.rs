//! The library behind the `minrepro` command: see `README.md` for its use and each module for its
//! part.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "minrepro confines runs by what Linux offers, and does not build for other systems yet; \
     in a container it runs there as well: see Containerfile"
);

pub mod agent;
pub mod cli;
pub mod commands;
pub mod crash;
pub mod diagnose;
pub mod engine;
mod files;
pub mod journal;
pub mod judge;
pub mod oracle;
pub mod report;
pub mod runner;
pub mod scrub;
pub mod stale;
pub mod target;
mod text;
