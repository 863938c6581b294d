//! Says whether a run shows the same bug. Called by the engine and the commands; runs nothing itself.

mod baseline;
mod derive;
mod signature;
mod slips;
mod spec;
mod verdict;

pub use baseline::{Baseline, BaselineError, summary};
pub use derive::{NotDerivable, derive};
pub use signature::{Part, Pattern, Place, Signature};
pub use slips::{Slip, ledger};
pub use spec::{Spec, SpecError};
pub use verdict::{Difference, Verdict};
