//! The reduction passes of minrepro: pure functions from a Python program to edits that would make
//! it smaller. No files, no processes, no clock. The engine of the `minrepro` crate applies, runs
//! and judges what is proposed here.

mod calls;
pub mod closure;
pub mod conditions;
pub mod cost;
mod dimensions;
pub mod edit;
pub mod evidence;
pub mod grounds;
pub mod hints;
pub mod ladder;
pub mod list;
pub mod method;
pub mod numbers;
mod outline;
pub mod pass;
mod passes;
mod paste;
mod places;
pub mod registry;
pub mod scope;
pub mod seeds;
mod slice;
pub mod source;
pub mod syntax;
mod torch;

#[cfg(test)]
mod testing;
