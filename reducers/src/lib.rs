//! The reduction passes of minrepro: pure functions from a Python program to edits that would make it smaller. No
//! files, no processes, no clock. The engine of the `minrepro` crate applies, runs and judges what is proposed here.

pub mod edit;
pub mod list;
pub mod source;
pub mod syntax;

pub mod scope;
