//! The reduction passes of minrepro: pure functions from a Python program to edits that would make
//! it smaller. No files, no processes, no clock. The engine of the `minrepro` crate applies, runs
//! and judges the proposals made here.

pub mod syntax;

pub mod rewrite;

pub mod analysis;

pub mod trace;

pub mod torch;

pub mod modules;

pub mod cost;
pub mod pass;
mod passes;
pub mod registry;

#[cfg(test)]
mod testing;
