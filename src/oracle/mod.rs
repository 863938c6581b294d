//! Says whether a run shows the same bug. Called by the engine and the commands; runs nothing
//! itself.

mod accident;
mod baseline;
mod derive;
mod in_test;
mod origin;
mod pattern;
mod place;
mod signals;
mod signature;
mod slips;
mod spec;
mod spot;
mod stabilizer;
mod steadiness;
mod verdict;
mod wording;

pub use accident::Accident;
pub use baseline::{Baseline, BaselineError, summary};
pub use derive::{NotDerivable, derive};
pub use origin::{Origin, claim};
pub use pattern::Pattern;
pub use place::{Place, is_check, is_in_library};
pub use signature::{Pace, Part, Signature};
pub use slips::{Slip, ledger, looser};
pub use spec::{Spec, SpecError};
pub use spot::Spot;
pub use stabilizer::Stabilizer;
pub use steadiness::Steadiness;
pub use verdict::{Difference, Verdict};

/// Grows whenever the same outcome would be judged in another way; what older rules decided is not
/// read from journals.
pub const RULES: u32 = 7;
