//! The flow from a GitHub issue to a minimized repro and a reviewed report, and the parts of it that stand alone.
//!
//! What an issue says is read by pure functions (`issue`), what a script would do is reviewed on its syntax tree
//! (`review`). Called by the commands.

pub mod issue;
mod python;
pub mod review;
