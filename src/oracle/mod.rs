//! Says whether a run shows the same bug. Called by the engine and the commands; runs nothing itself.

mod verdict;

pub use verdict::{Difference, Verdict};
