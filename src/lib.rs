//! The library behind the `minrepro` command: see `README.md` for its use and each module for its
//! part. Starting runs needs features that every Unix has. On other systems the library is empty,
//! and the command says so.
#![cfg(unix)]

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
