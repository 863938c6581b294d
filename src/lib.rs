//! The library behind the `minrepro` command: see `README.md` for its use and each module for its
//! part.

pub mod cli;
pub mod commands;
pub mod crash;
pub mod engine;
pub mod journal;
pub mod judge;
pub mod oracle;
pub mod report;
pub mod runner;
pub mod scrub;
mod text;
